"use strict";
// The filter shows the plans with the selected state that contain all words.
for (const form of document.querySelectorAll(".filter")) {
  const plans = [...form.parentElement.querySelectorAll(".plan")];
  const shown = form.querySelector(".shown");
  form.apply = () => {
    const words = form.elements.text.value.toLowerCase().split(/\s+/).filter(Boolean);
    const state = form.querySelector("input:checked").value;
    let count = 0;
    for (const plan of plans) {
      plan.hidden = (state && plan.dataset.state !== state) || !words.every((word) => plan.dataset.text.includes(word));
      if (!plan.hidden) count++;
    }
    shown.textContent = count + " of " + plans.length;
  };
  form.addEventListener("input", form.apply);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.apply();
}

// A link to a plan shows and opens the plan even if the filter hides it.
function openTarget() {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (!target) return;
  if (target.hidden) {
    const form = target.closest(".suite").querySelector(".filter");
    form.elements.text.value = "";
    form.querySelector("input[value='']").checked = true;
    form.apply();
  }
  if (target.tagName === "DETAILS") {
    target.open = true;
    target.querySelector("summary").focus({ preventScroll: true });
  }
  target.scrollIntoView();
}
addEventListener("hashchange", openTarget);
document.addEventListener("click", (event) => {
  const link = event.target.closest("a[href^='#']");
  if (link && link.getAttribute("href") === location.hash) openTarget(); // this causes no hashchange event
});
if (location.hash) openTarget();

// The description of the mark under the mouse, or of the mark selected by the arrow keys, is shown below the timeline.
function say(mark) {
  const figure = mark.closest("figure");
  for (const other of figure.querySelectorAll(".now")) other.classList.remove("now");
  mark.classList.add("now");
  figure.querySelector("output").textContent = mark.dataset.t;
}
document.addEventListener("mouseover", (event) => {
  const mark = event.target.closest("[data-t]");
  if (mark) say(mark);
});
document.addEventListener("keydown", (event) => {
  const plot = event.target;
  const step = { ArrowRight: 1, ArrowLeft: -1, Home: -Infinity, End: Infinity }[event.key];
  if (!step || !plot.classList || !plot.classList.contains("plot")) return;
  event.preventDefault();
  plot.marks ||= [...plot.querySelectorAll("[data-t]")]
    .map((mark) => [mark.getBBox().x + (mark.tagName === "use" ? 0.01 : 0), mark])
    .sort((a, b) => a[0] - b[0])
    .map((pair) => pair[1]);
  const now = plot.marks.indexOf(plot.querySelector(".now"));
  const mark = plot.marks[Math.max(0, Math.min(plot.marks.length - 1, now + step))];
  say(mark);
  mark.scrollIntoView({ block: "nearest", inline: "center" });
});

document.addEventListener("click", (event) => {
  if (!event.target.matches(".rerun button")) return;
  const code = event.target.previousElementSibling;
  getSelection().selectAllChildren(code);
  navigator.clipboard?.writeText(code.textContent).then(() => { event.target.textContent = "copied"; }, () => {});
});
