// What pages do beside showing themselves; all of them work without it.
"use strict";

// A button that copies a command, beside each that is marked with data-copy.
for (const block of document.querySelectorAll("[data-copy]")) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "second small";
  button.textContent = "Copy";
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(block.textContent.trim());
    button.textContent = "Copied";
    setTimeout(() => { button.textContent = "Copy"; }, 2000);
  });
  block.after(button);
}

// The budget of a draft: a slider beside the number, and its sentence as it moves.
function liveSlider(part) {
  const number = part.querySelector("input"), sentence = part.querySelector("[data-sentence]");
  const slider = document.createElement("input");
  Object.assign(slider, { type: "range", min: "-2", max: "1.3", step: "0.01" });
  slider.setAttribute("aria-label", "Epsilon for all questions together, on a slider");
  slider.value = Math.log10(Number(number.value) || 1);
  const say = () => {
    const epsilon = Number(number.value);
    if (!(epsilon > 0)) return;
    const factor = Math.exp(Math.min(epsilon, 700)), shown = factor < 1e4 ? String(Number(factor.toPrecision(3))) : factor.toExponential(1);
    sentence.textContent = sentence.textContent.replace(/at most .*$/, `at most ${shown}.`);
    slider.setAttribute("aria-valuetext", `epsilon ${number.value}`);
  };
  slider.addEventListener("input", () => { number.value = String(Number((10 ** Number(slider.value)).toPrecision(2))); say(); });
  number.addEventListener("input", () => { slider.value = Math.log10(Number(number.value) || 1); say(); });
  number.after(slider);
}

// What is done once: a second click on its button does nothing.
function doOnce(form) {
  form.addEventListener("submit", () => { for (const button of form.querySelectorAll("button")) button.disabled = true; });
}

document.querySelectorAll("[data-slider]").forEach(liveSlider);
document.querySelectorAll("form[data-once]").forEach(doOnce);
