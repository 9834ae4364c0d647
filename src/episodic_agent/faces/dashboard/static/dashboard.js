// What moves on a page: the theme, questions before what cannot be undone, news, the slider of a plot.
"use strict";

const root = document.documentElement;
const toggle = document.querySelector("[data-theme-toggle]");
if (toggle) {
  const dark = () => root.dataset.theme ? root.dataset.theme === "dark"
    : matchMedia("(prefers-color-scheme: dark)").matches;
  const name = () => { toggle.textContent = dark() ? "Light theme" : "Dark theme"; };
  toggle.hidden = false;
  name();
  toggle.addEventListener("click", () => {
    root.dataset.theme = dark() ? "light" : "dark";
    const secure = location.protocol === "https:" ? "; Secure" : "";
    document.cookie = `episodic_theme=${root.dataset.theme}; Path=/; Max-Age=31536000; SameSite=Strict${secure}`;
    name();
    document.dispatchEvent(new Event("theme"));
  });
}

// on a phone the menu is one long line: the page one is on stands in it where it is seen
const current = document.querySelector("nav [aria-current]");
if (current) {
  const menu = current.closest("nav").getBoundingClientRect(), place = current.getBoundingClientRect();
  current.closest("nav").scrollLeft += place.left - menu.left - (menu.width - place.width) / 2;
}

for (const form of document.querySelectorAll("form[data-ask]")) {
  form.addEventListener("submit", (event) => { if (!confirm(form.dataset.ask)) event.preventDefault(); });
}
for (const form of document.querySelectorAll("form[data-at-once]")) {
  form.addEventListener("change", () => form.requestSubmit());
}

const live = document.querySelector("[data-live]");
if (live && "EventSource" in window) {
  const source = new EventSource(live.dataset.live);
  const news = document.querySelector("[data-news]");
  const counts = document.querySelector("[data-count=messages]");
  let fresh = 0;
  const tell = (text) => {
    news.hidden = false;
    news.querySelector("a").textContent = text;
  };
  source.onopen = () => { live.classList.add("on"); live.textContent = "Live"; };
  source.onerror = () => { live.classList.remove("on"); live.textContent = "Connecting…"; };
  source.addEventListener("messages", (event) => {
    const { observations } = JSON.parse(event.data);
    if (counts) counts.textContent = observations.toLocaleString("en").replaceAll(",", "\u2009");
    if (!fresh) tell("New messages – show");
  });
  source.addEventListener("episode", () => {
    fresh += 1;
    tell(fresh === 1 ? "1 new episode – show" : `${fresh} new episodes – show`);
    document.dispatchEvent(new Event("episodes"));
  });
  addEventListener("pagehide", () => source.close());
}

const plot = document.querySelector("[data-whatif]");
if (plot) {
  const slider = plot.querySelector("input[type=range]");
  const words = plot.querySelector("[data-words]");
  const shown = plot.querySelector("[data-shown]");
  const apply = plot.querySelector("form");
  let timer = 0;
  let asked = 0;
  const draw = () => {
    const at = Number(slider.value);
    shown.textContent = at.toFixed(2);
    for (const dot of plot.querySelectorAll(".dot")) dot.classList.remove("changed");
    if (apply) apply.querySelector("[name=threshold]").value = at.toFixed(2);
  };
  const ask = async () => {
    const mine = ++asked;
    const answer = await fetch(`${plot.dataset.whatif}?threshold=${Number(slider.value).toFixed(2)}`);
    const told = await answer.json();
    if (mine !== asked) return;
    if (!answer.ok) { words.textContent = told.problem; return; }
    const changes = told.added.length + told.removed.length;
    const episodes = (n) => `${n} ${n === 1 ? "episode" : "episodes"}`;
    words.textContent = changes === 0 ? `The whole thread would keep its ${episodes(told.stored)}.`
      : `The whole thread would have ${episodes(told.proposed)} instead of ${told.stored}; ${told.same} the same.`
        + (told.added.length ? ` New cuts before message ${told.added.slice(0, 6).join(", ")}${told.added.length > 6 ? "…" : ""}.` : "")
        + (told.removed.length ? ` Gone: before message ${told.removed.slice(0, 6).join(", ")}${told.removed.length > 6 ? "…" : ""}.` : "");
    for (const dot of plot.querySelectorAll(".dot")) {
      const seq = Number(dot.dataset.seq);
      dot.classList.toggle("changed", told.added.includes(seq) || told.removed.includes(seq));
    }
    if (apply) apply.hidden = changes === 0;
  };
  slider.addEventListener("input", () => {
    draw();
    words.textContent = "Asking what it would make of the thread…";
    clearTimeout(timer);
    timer = setTimeout(ask, 220);
  });
}
