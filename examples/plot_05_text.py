"""
Text, from raw documents
========================

From paragraphs to a classifier with a proof.
Text is what maximum-margin classifiers are best at: many features, few of them in any one row.
"""

# %%
# scikit-learn ships no collection of texts, but it documents itself. Which of its modules is a paragraph about?
# Numbers, code and paragraphs that several modules share are left out.
import importlib
import re

import matplotlib.pyplot as plt
import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline

from dynmargin import MaxMarginClassifier

topics = ["cluster", "decomposition", "ensemble", "metrics", "neighbors", "preprocessing"]
found: dict[str, set[str]] = {}
for topic in topics:
    module = importlib.import_module(f"sklearn.{topic}")
    for name in module.__all__:
        for paragraph in re.split(r"\n\s*\n|\n(?=\S)", getattr(module, name).__doc__ or ""):
            text = " ".join(re.findall(r"[A-Za-z]{2,}", paragraph))
            if text.count(" ") >= 8 and ">>>" not in paragraph:
                found.setdefault(text, set()).add(topic)
paragraphs = [text for text, where in found.items() if len(where) == 1]
about = [next(iter(found[text])) for text in paragraphs]
print(len(paragraphs), "paragraphs; one of them:", paragraphs[0][:90], "...")

# %%
# A ``Pipeline`` takes raw text. The vectorizer gives every row the length 1, so no scaling is needed.
pipeline = make_pipeline(
    TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True, min_df=2, stop_words="english"),
    MaxMarginClassifier(random_state=0),
)
print(f"cross-validated accuracy: {cross_val_score(pipeline, paragraphs, about, cv=5).mean():.3f}")
pipeline.fit(paragraphs, about)
for question in ("scale every feature to the range from zero to one", "precision and recall of a classifier"):
    print(f"{question}: {pipeline.predict([question])[0]}")

# %%
# Six classes, six certificates. A proof is about the very numbers that were trained on, so keep them: ``transform``
# rounds some of them otherwise than ``fit_transform``, and to a certificate these are other data.
words, classifier = pipeline[0], MaxMarginClassifier(random_state=0)
rows = words.fit_transform(paragraphs)
classifier.fit(rows, about)
print(rows.shape[0], "rows,", rows.shape[1], "features,", f"{rows.nnz / rows.shape[0]:.0f} non-zeros per row")
for certificate in classifier.certificates_:
    print(f"{certificate}; {certificate.verify(rows, about).verdict}")

# %%
# The words that speak most strongly for each class.
names = words.get_feature_names_out()
figure, axes = plt.subplots(2, 3, figsize=(9, 5), layout="constrained")
for ax, topic, weights in zip(axes.ravel(), classifier.classes_, classifier.coef_, strict=True):
    strongest = np.argsort(weights)[-6:]
    ax.barh(names[strongest], weights[strongest], color="#0072b2")
    ax.set_title(topic)
figure.supxlabel("weight")
plt.show()
