"use strict";
// The filter shows the plans with the selected state that contain all words.
for (const form of document.querySelectorAll(".filter")) {
  const plans = [...form.parentElement.querySelectorAll(".plan")];
  const texts = new Map(plans.map((plan) => [plan, (plan.dataset.category + " " + (plan.querySelector("summary") || plan).textContent).toLowerCase()]));
  const shown = form.querySelector(".shown");
  form.apply = () => {
    const words = form.elements.text.value.toLowerCase().split(/\s+/).filter(Boolean);
    const state = form.querySelector("input:checked").value;
    let count = 0;
    for (const plan of plans) {
      plan.hidden = (state && plan.dataset.state !== state) || !words.every((word) => texts.get(plan).includes(word));
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

document.addEventListener("click", (event) => {
  if (!event.target.matches(".rerun button")) return;
  const code = event.target.previousElementSibling;
  getSelection().selectAllChildren(code);
  navigator.clipboard?.writeText(code.textContent).then(() => { event.target.textContent = "copied"; }, () => {});
});
