"""Where the pages of the classifiers are, for the links in a notebook."""

# A placeholder until the site has an address of its own: no other file names one.
ADDRESS = "https://dynmargin.example/"
PAGE = ADDRESS + "api/dynmargin.{estimator_name}.html"
