// What pages do beside showing themselves; all of them work without it.
"use strict";

const parts = {};
const live = (scope) => scope.querySelectorAll("[data-live]").forEach((part) => parts[part.dataset.live]?.(part));

// Three digits that say something, as the pages write them.
const three = (number) => Number(number.toPrecision(3)).toLocaleString("en", { maximumSignificantDigits: 3 });
const plain = (number) => String(Number(number.toPrecision(3)));

// A curve from epsilon to the half-width, straight on logarithmic axes between its points, and back.
function curveOf(said) {
  const between = (x, x0, x1, y0, y1) =>
    Math.exp(Math.log(y0) + ((Math.log(y1) - Math.log(y0)) * (Math.log(x) - Math.log(x0))) / (Math.log(x1) - Math.log(x0) || 1));
  const points = said.points;
  const at = (epsilon, which) => {
    const after = Math.min(Math.max(points.findIndex((each) => each[0] >= epsilon), 1), points.length - 1);
    return between(epsilon, points[after - 1][0], points[after][0], points[after - 1][which], points[after][which]);
  };
  const epsilonFor = (width) => {
    if (points[0][2] <= width) return points[0][0];
    for (let place = 1; place < points.length; place++) {
      const [before, after] = [points[place - 1], points[place]];
      if (after[2] <= width) return between(width, after[2], before[2], after[0], before[0]);
    }
    return points[points.length - 1][0];
  };
  const axis = ([low, high, start, end]) => (number) =>
    start + (Math.log(Math.min(Math.max(number, low), high) / low) / Math.log(high / low)) * (end - start);
  return { at, epsilonFor, first: points[0][0], last: points[points.length - 1][0], across: axis(said.across), up: axis(said.up) };
}

// How to find what has the focus again, in a part of the page that comes anew.
const focusOf = (element) => element.id ? `#${element.id}` : element.matches("[data-price]") ? "[data-price]" : element.localName;

// The page of a question: a change of the sentence shows what to expect anew, and two sliders turn both ways.
parts.ask = (page) => {
  const form = page.querySelector("#sentence");
  let waiting, asking;
  const later = (work, pause) => { clearTimeout(waiting); waiting = setTimeout(work, pause); };

  const refresh = async () => {
    const address = `${page.dataset.page}?${new URLSearchParams([...new FormData(form)].filter(([, value]) => value))}`;
    asking?.abort();
    asking = new AbortController();
    try {
      const reply = await fetch(address, { signal: asking.signal, headers: { accept: "text/html" } });
      const found = new DOMParser().parseFromString(await reply.text(), "text/html");
      if (!found.querySelector("#expect")) return;
      for (const name of ["#expect", "#about", "#method"]) {
        const [old, fresh] = [page.querySelector(name), found.querySelector(name)];
        if (!old || !fresh || old === document.activeElement) continue;
        const focused = old.contains(document.activeElement) ? focusOf(document.activeElement) : null;
        old.replaceWith(document.adoptNode(fresh));
        if (focused) fresh.querySelector(focused)?.focus();
      }
      if (found.querySelector("#more").open) page.querySelector("#more").open = true;
      form.querySelector("#n").placeholder = found.querySelector("#n").placeholder;
      history.replaceState(null, "", address);
      slide();
      live(page.querySelector("#expect"));
    } catch (error) {
      if (error.name !== "AbortError") page.querySelector("[data-show]").hidden = false;
    }
  };

  const slide = () => {
    const figure = page.querySelector("[data-curve]");
    if (!figure) return;
    const said = JSON.parse(figure.dataset.curve);
    const curve = curveOf(said);
    const [byEpsilon, byWidth] = [figure.querySelector("#slide-epsilon"), figure.querySelector("#slide-width")];
    const epsilonField = form.querySelector("#epsilon");
    const widest = curve.at(curve.first, 2), least = curve.at(curve.last, 2);
    const share = (number, low, high) => Math.round((1000 * Math.log(number / low)) / Math.log(high / low || 1));
    const number = (place, low, high) => low * (high / low) ** (place / 1000);
    const inUnit = (width) => `${three(width)}${said.unit}`;
    const inShort = (width) => `${three(width)}${said.unit.slice(0, 1)}`;

    const stand = (epsilon, moved) => {
      const width = curve.at(epsilon, 2);
      const [x, y] = [`${curve.across(epsilon)}%`, curve.up(width)];
      const [upright, level] = figure.querySelectorAll(".fig-zero");
      upright.setAttribute("x1", x); upright.setAttribute("x2", x);
      level.setAttribute("y1", y); level.setAttribute("y2", y);
      const dot = figure.querySelector(".fig-mark");
      dot.setAttribute("cx", x); dot.setAttribute("cy", y);
      if (moved !== byEpsilon) byEpsilon.value = share(epsilon, curve.first, curve.last);
      if (moved !== byWidth) byWidth.value = share(width, widest, least);
      byEpsilon.setAttribute("aria-valuetext", `epsilon ${plain(epsilon)}`);
      byWidth.setAttribute("aria-valuetext", inUnit(width));
      if (!moved) return;
      epsilonField.value = plain(epsilon);
      form.querySelector("#width").value = "";
      page.querySelector("[data-width]").textContent = inUnit(width);
      page.querySelector("[data-band]").textContent = `${inShort(curve.at(epsilon, 1))} to ${inShort(curve.at(epsilon, 3))}`;
      page.querySelector(".expected").hidden = false;
      page.querySelector("[data-floor]").hidden = epsilon >= said.floor;
      reprice(plain(epsilon));
    };
    byEpsilon.addEventListener("input", () => stand(number(byEpsilon.value, curve.first, curve.last), byEpsilon));
    byWidth.addEventListener("input", () => stand(curve.epsilonFor(number(byWidth.value, widest, least)), byWidth));
    figure.querySelector(".sliders").hidden = false;
    const now = Number(epsilonField.value);
    stand(Math.min(Math.max(now > 0 ? now : curve.first, curve.first), curve.last), null);
  };

  // The button says at once what it spends; what that leaves, only the account knows.
  const reprice = (epsilon) => {
    for (const field of page.querySelectorAll("input[name=document], input[name=documents]:last-of-type")) {
      field.value = JSON.stringify({ ...JSON.parse(field.value), epsilon });
    }
    const button = page.querySelector("[data-price]");
    const delta = JSON.parse(page.querySelector("input[name=document]").value).delta;
    button.textContent = `Ask: spends epsilon = ${epsilon}${delta ? `, delta = ${delta}` : ""}`;
    const words = page.querySelector("[data-words]");
    words.textContent = `Spends epsilon = ${epsilon}.`;
    later(async () => {
      const before = button.textContent;
      const body = JSON.stringify({ document: JSON.parse(page.querySelector("input[name=document]").value) });
      const reply = await fetch(page.dataset.priceAt, { method: "POST", headers: { "content-type": "application/json" }, body });
      if (!reply.ok) return refresh();
      const price = await reply.json();
      if (button.textContent !== before) return;
      button.textContent = price.archived ? "Ask: free, it was answered before" : `Ask: spends ${price.cost.words}`;
      words.textContent = price.archived
        ? "This very question was answered before: it gets the same answer, and spends nothing."
        : `${price.words[0].toUpperCase()}${price.words.slice(1)}.`;
      button.disabled = price.fits === false && !price.archived;
      history.replaceState(null, "", `${page.dataset.page}?${new URLSearchParams([...new FormData(form)].filter(([, value]) => value))}`);
    }, 60);
  };

  page.querySelector("[data-show]").hidden = true;
  form.addEventListener("submit", (event) => { event.preventDefault(); refresh(); });
  form.addEventListener("input", (event) => {
    if (event.target.id === "epsilon") form.querySelector("#width").value = "";
    later(refresh, event.target.matches("select, [type=checkbox]") ? 0 : 350);
  });
  slide();
};

// What spends: the button freezes after the click, and a bar is as long as the public time of the reply.
parts.pay = (form) => {
  form.addEventListener("submit", () => {
    form.querySelector("button").disabled = true;
    const waiting = form.querySelector(".waiting");
    waiting.hidden = false;
    const [bar, seconds, begun] = [waiting.querySelector("progress"), Number(form.dataset.seconds) || 0.1, performance.now()];
    const tick = () => {
      bar.value = Math.min((performance.now() - begun) / (1000 * seconds), 1);
      requestAnimationFrame(tick);
    };
    tick();
  });
  window.addEventListener("pageshow", (event) => { if (event.persisted) location.reload(); });
};

// Code and receipts: a button that copies them.
document.querySelectorAll("[data-copy]").forEach((pre) => {
  if (!navigator.clipboard) return;
  const button = document.createElement("button");
  button.type = "button";
  button.className = "second small copy";
  button.textContent = "Copy";
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(pre.textContent.trim());
    button.textContent = "Copied";
    setTimeout(() => { button.textContent = "Copy"; }, 2000);
  });
  const box = document.createElement("div");
  box.className = "copied";
  pre.replaceWith(box);
  box.append(pre, button);
});

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

live(document);
