// Reads a curve off: at the pointer, or step by step with the slider below it.
"use strict";
for (const figure of document.querySelectorAll("figure[data-points]")) {
  const points = JSON.parse(figure.dataset.points); // [x, [y, ...], words] in the units of the picture
  const svg = figure.querySelector("svg"), slider = figure.querySelector("input");
  const output = figure.querySelector("output");
  const draw = (name, kind) => {
    const node = document.createElementNS("http://www.w3.org/2000/svg", name);
    node.setAttribute("class", kind);
    node.setAttribute("aria-hidden", "true");
    return svg.appendChild(node);
  };
  let guide = null, marks = [];
  const show = (place) => {
    const [x, heights, words] = points[place];
    guide ??= draw("path", "guide");
    guide.setAttribute("d", `M${x} ${Math.min(...heights)}V${figure.dataset.bottom}`);
    while (marks.length < heights.length) marks.push(draw("circle", "mark"));
    marks.forEach((mark, i) => {
      mark.setAttribute("cx", x);
      mark.setAttribute("cy", heights[i]);
      mark.setAttribute("r", 3);
    });
    slider.value = place;
    slider.setAttribute("aria-valuetext", words);
    output.textContent = words;
  };
  const nearest = (event) => {
    const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
    const far = ([x, heights]) =>
      figure.dataset.by === "x" ? Math.abs(x - at.x) : Math.min(...heights.map((y) => Math.hypot(x - at.x, y - at.y)));
    const distances = points.map(far);
    show(distances.indexOf(Math.min(...distances)));
  };
  svg.addEventListener("pointermove", nearest);
  svg.addEventListener("pointerdown", nearest);
  slider.addEventListener("input", () => show(Number(slider.value)));
  figure.querySelector(".reading").hidden = false;
}
