// The timeline: from years to one message. Drawn on a canvas, so that tens of thousands of episodes move at the
// speed of the screen; the list below it holds the same for who does not see it.
"use strict";

const view = document.querySelector("[data-timeline]");
if (view) {
  const canvas = view.querySelector("canvas");
  const pen = canvas.getContext("2d");
  const tip = view.querySelector(".tip");
  const range = view.querySelector("output");
  const probes = [...view.querySelectorAll(".probe")];
  const base = view.dataset.timeline;
  const ROWS = 9, TOP = 34, ROW = 28;
  let rows = [], threads = [], lanes = [], used = ROWS, from = 0, to = 1, least = 0, most = 1;
  let colours = {}, hues = [], due = false, hovered = null, picked = -1;
  const messages = new Map();
  const stats = { frames: 0, drawn: 0 };
  view.stats = stats;

  const paint = () => {
    const style = (name) => getComputedStyle(probes.find((one) => one.dataset.name === name)).color;
    colours = { ink: style("ink"), soft: style("soft"), line: style("line"), accent: style("accent") };
    hues = probes.filter((one) => one.dataset.hue).map((one) => getComputedStyle(one).backgroundColor);
    draw();
  };
  let known = canvas.clientWidth; // asked of the page once for each change, not for each bar
  const width = () => known;
  const xOf = (second) => (second - from) / (to - from) * width();
  const timeOf = (x) => from + x / width() * (to - from);

  // each thread gets a lane; one that begins when another is over for long takes its place
  const place = () => {
    const spans = new Map();
    for (const row of rows) {
      const span = spans.get(row[3]);
      if (!span) spans.set(row[3], [row[0], row[1]]);
      else { span[0] = Math.min(span[0], row[0]); span[1] = Math.max(span[1], row[1]); }
    }
    const free = [];
    lanes = [];
    const idle = (most - least) / 400;
    for (const [thread, [start, end]] of [...spans].sort((a, b) => a[1][0] - b[1][0])) {
      let lane = free.findIndex((until) => until + idle < start);
      if (lane < 0) lane = free.length < ROWS ? free.length : thread % ROWS;
      free[lane] = Math.max(free[lane] || 0, end);
      lanes[thread] = lane;
    }
    used = Math.max(1, Math.min(ROWS, free.length));
  };

  // few lanes are drawn higher, so that they fill the room there is
  const pitchOf = (height) => Math.max(ROW, Math.min(2 * ROW, (height - TOP - 8) / used));

  // the first row that may reach into the view: rows are by start, and no episode is longer than `longest`
  let longest = 0;
  const firstRow = () => {
    let low = 0, high = rows.length;
    const sought = from - longest;
    while (low < high) { const middle = (low + high) >> 1; if (rows[middle][0] < sought) low = middle + 1; else high = middle; }
    return low;
  };

  const STEPS = [60, 300, 900, 3600, 10800, 21600, 86400, 604800, 2629800, 7889400, 31557600, 157788000];
  const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
  const label = (second, step) => {
    const at = new Date(second * 1000);
    const two = (n) => String(n).padStart(2, "0");
    const month = MONTHS[at.getUTCMonth()];
    if (step >= 31557600) return String(at.getUTCFullYear());
    if (step >= 2629800) return `${month} ${at.getUTCFullYear()}`;
    if (step >= 86400) return `${at.getUTCDate()} ${month}`;
    return `${at.getUTCDate()} ${month} ${two(at.getUTCHours())}:${two(at.getUTCMinutes())}`;
  };
  const ticks = () => {
    const step = STEPS.find((one) => one / (to - from) * width() > 92) || STEPS.at(-1);
    const marks = [];
    if (step >= 2629800) {
      const at = new Date(from * 1000);
      const months = Math.max(1, Math.round(step / 2629800));
      let year = at.getUTCFullYear(), month = 0;
      for (;;) {
        const second = Date.UTC(year, month) / 1000;
        if (second > to) break;
        if (second >= from) marks.push([second, label(second, step)]);
        month += months;
        year += Math.floor(month / 12);
        month %= 12;
      }
    } else {
      for (let second = Math.ceil(from / step) * step; second <= to; second += step) marks.push([second, label(second, step)]);
    }
    return marks;
  };

  const request = () => { if (!due) { due = true; requestAnimationFrame(draw); } };
  function draw() {
    due = false;
    if (!rows.length) return;
    const scale = devicePixelRatio || 1;
    const w = width(), h = canvas.clientHeight;
    if (canvas.width !== Math.round(w * scale) || canvas.height !== Math.round(h * scale)) {
      canvas.width = Math.round(w * scale);
      canvas.height = Math.round(h * scale);
    }
    pen.setTransform(scale, 0, 0, scale, 0, 0);
    pen.clearRect(0, 0, w, h);
    pen.font = "11.5px system-ui, sans-serif";
    pen.textBaseline = "middle";
    pen.lineWidth = 1;
    for (const [second, text] of ticks()) {
      const x = Math.round(xOf(second)) + .5;
      pen.strokeStyle = colours.line;
      pen.beginPath();
      pen.moveTo(x, 24);
      pen.lineTo(x, h);
      pen.stroke();
      pen.fillStyle = colours.soft;
      pen.fillText(text, x + 5, 14);
    }
    const pitch = pitchOf(h);
    const reached = new Float64Array(ROWS).fill(-1e9);
    const pixels = w / (to - from);
    let drawn = 0, colour = -1, alpha = 1;
    for (let n = firstRow(); n < rows.length && rows[n][0] <= to; n++) {
      const row = rows[n];
      if (row[1] < from) continue;
      const lane = lanes[row[3]];
      const x = (row[0] - from) * pixels;
      const end = Math.max((row[1] - from) * pixels, x + 3);
      if (end - reached[lane] < .6 && n !== hovered) continue; // nothing new would be seen
      reached[lane] = end;
      drawn++;
      const y = TOP + lane * pitch;
      const wide = end - x;
      const shade = row[6] & 4 ? .35 : 1, hue = threads[row[3]][2];
      if (shade !== alpha) pen.globalAlpha = alpha = shade;
      if (hue !== colour) pen.fillStyle = hues[colour = hue];
      if (wide < 5 && !(row[6] & 1) && n !== hovered && n !== picked) { pen.fillRect(x, y, wide, pitch - 8); continue; }
      pen.beginPath();
      pen.roundRect(x, y, wide, pitch - 8, Math.min(5, wide / 2));
      pen.fill();
      if (row[6] & 1) { pen.strokeStyle = colours.ink; pen.setLineDash([3, 3]); pen.stroke(); pen.setLineDash([]); }
      if (n === hovered || n === picked) { pen.strokeStyle = colours.ink; pen.lineWidth = 2; pen.stroke(); pen.lineWidth = 1; }
      if (wide > 60) {
        pen.save();
        pen.beginPath();
        pen.rect(Math.max(x, 0), y, Math.min(end, w) - Math.max(x, 0) - 6, pitch - 8);
        pen.clip();
        pen.fillStyle = "#fff";
        pen.fillText((row[6] & 2 ? "● " : "") + (row[5] || threads[row[3]][0]), Math.max(x, 0) + 8, y + (pitch - 8) / 2 - (wide > 420 ? 5 : 0));
        pen.restore();
        if (wide > 260) drawMessages(row, x, end, y, pitch);
        colour = alpha = -1; // what was drawn inside has its own
      }
    }
    pen.globalAlpha = 1;
    stats.frames++;
    stats.drawn = drawn;
  }
  function drawMessages(row, x, end, y, pitch) {
    const said = messages.get(row[4]);
    if (said === undefined) {
      messages.set(row[4], null);
      fetch(`${base}/episodes/${row[4]}/messages.json`).then((answer) => answer.json()).then((told) => {
        messages.set(row[4], told.messages || []);
        request();
      });
    }
    if (!said) return;
    pen.fillStyle = "#fff";
    for (const one of said) {
      const at = xOf(one[0]);
      pen.globalAlpha = .9;
      pen.fillRect(at, y + pitch - 14, 2, 6);
    }
    if (end - x < 420) return;
    pen.globalAlpha = .92;
    let free = Math.max(x, 0) + 8;
    for (const one of said) {
      const at = Math.max(xOf(one[0]), x + 8);
      if (at < free || at > Math.min(end, width()) - 70) continue;
      const text = `${one[1]}: ${one[2]}`;
      pen.save();
      pen.beginPath();
      pen.rect(at, y, Math.min(220, Math.min(end, width()) - at - 8), pitch);
      pen.clip();
      pen.fillText(text, at, y + (pitch - 8) / 2 + 7);
      pen.restore();
      free = at + Math.min(220, pen.measureText(text).width + 14);
    }
    pen.globalAlpha = 1;
  }

  const say = () => {
    const day = (second) => new Date(second * 1000).toISOString().slice(0, to - from < 259200 ? 16 : 10).replace("T", " ");
    range.textContent = `${day(from)} – ${day(to)}`;
  };
  const show = (start, end) => {
    const room = Math.max((most - least) * .04, 60);
    const span = Math.min(Math.max(end - start, 20), most - least + 2 * room);
    from = Math.min(Math.max(start, least - room), most + room - span);
    to = from + span;
    say();
    request();
  };
  const zoom = (factor, at = (from + to) / 2) => show(at - (at - from) * factor, at + (to - at) * factor);
  const move = (share) => show(from + (to - from) * share, to + (to - from) * share);
  const at = (x, y) => {
    const pitch = pitchOf(canvas.clientHeight);
    const lane = Math.floor((y - TOP) / pitch);
    const slack = (to - from) / width() * 3;
    const time = timeOf(x);
    let best = null;
    for (let n = firstRow(); n < rows.length && rows[n][0] <= time + slack; n++) {
      if (lanes[rows[n][3]] === lane && rows[n][1] >= time - slack) best = n;
    }
    return best;
  };
  const tell = (n, x, y) => {
    if (n === null) { tip.hidden = true; return; }
    const row = rows[n];
    tip.hidden = false;
    tip.replaceChildren();
    const strong = document.createElement("b");
    strong.textContent = row[5] || "Not titled yet";
    const when = new Date(row[0] * 1000).toISOString().slice(0, 16).replace("T", " ");
    tip.append(strong, `${when} · ${row[2]} ${row[2] === 1 ? "message" : "messages"} · ${threads[row[3]][0]}`);
    const left = Math.min(x + 14, width() - tip.offsetWidth - 8);
    tip.style.left = `${Math.max(8, left)}px`;
    tip.style.top = `${Math.max(0, y - tip.offsetHeight - 10)}px`;
  };
  const open = (n) => { location.href = `${base}/episodes/${rows[n][4]}`; };

  let held = null;
  canvas.addEventListener("pointerdown", (event) => {
    held = { x: event.offsetX, from, to, moved: false };
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", (event) => {
    if (held) {
      const by = (held.x - event.offsetX) / width() * (held.to - held.from);
      if (Math.abs(held.x - event.offsetX) > 4) held.moved = true;
      if (held.moved) { tip.hidden = true; show(held.from + by, held.to + by); }
      return;
    }
    const n = at(event.offsetX, event.offsetY);
    if (n !== hovered) { hovered = n; canvas.style.cursor = n === null ? "" : "pointer"; request(); }
    tell(n, event.offsetX, event.offsetY);
  });
  canvas.addEventListener("pointerup", (event) => {
    const clicked = held && !held.moved;
    held = null;
    const n = at(event.offsetX, event.offsetY);
    if (clicked && n !== null) open(n);
  });
  canvas.addEventListener("pointerleave", () => { hovered = null; tip.hidden = true; request(); });
  canvas.addEventListener("wheel", (event) => {
    if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) { event.preventDefault(); move((event.deltaX || event.deltaY) / 1200); return; }
    if (!event.ctrlKey && !event.metaKey && document.activeElement !== canvas) return; // the page scrolls
    event.preventDefault();
    zoom(Math.exp(event.deltaY / 400), timeOf(event.offsetX));
  }, { passive: false });
  canvas.addEventListener("dblclick", (event) => zoom(.4, timeOf(event.offsetX)));
  const pick = (step) => {
    const start = firstRow();
    if (picked < 0 || rows[picked][1] < from || rows[picked][0] > to) {
      picked = rows.findIndex((row, n) => n >= start && row[1] >= from);
    } else picked = Math.min(Math.max(picked + step, 0), rows.length - 1);
    if (picked < 0) return;
    const row = rows[picked];
    if (row[0] < from || row[1] > to) { const half = (to - from) / 2; show(row[0] - half, row[0] + half); }
    request();
    tell(picked, Math.max(xOf(row[0]), 0), TOP + lanes[row[3]] * pitchOf(canvas.clientHeight));
    view.querySelector("[data-picked]").textContent = `${row[5] || "Not titled yet"}, ${new Date(row[0] * 1000).toISOString().slice(0, 10)}`;
  };
  canvas.addEventListener("keydown", (event) => {
    const keys = {
      ArrowLeft: () => pick(-1), ArrowRight: () => pick(1), "+": () => zoom(.6), "=": () => zoom(.6), "-": () => zoom(1.6),
      ArrowUp: () => zoom(.6), ArrowDown: () => zoom(1.6), Home: () => show(least, most),
      PageUp: () => move(-.8), PageDown: () => move(.8), Enter: () => { if (picked >= 0) open(picked); },
    };
    if (keys[event.key]) { event.preventDefault(); keys[event.key](); }
  });
  for (const button of view.querySelectorAll("[data-do]")) {
    button.addEventListener("click", () => ({
      in: () => zoom(.5), out: () => zoom(2), left: () => move(-.6), right: () => move(.6), all: () => show(least - 1, most + 1),
      year: () => show(most - 31557600, most), month: () => show(most - 2629800, most), day: () => show(most - 86400, most),
    })[button.dataset.do]());
  }
  new ResizeObserver(() => { known = canvas.clientWidth; request(); }).observe(canvas);
  document.addEventListener("theme", paint);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", paint);

  // the newest are there at once, in the frame of the whole time; the others of a large memory follow
  const SOON = 1000;
  const fetched = async (query) => (await fetch(`${base}/timeline.json${query}`)).json();
  const take = (told, keep) => {
    const chosen = picked < 0 ? null : rows[picked][4];
    rows = told.episodes.sort((a, b) => a[0] - b[0]);
    threads = told.threads;
    hovered = null;
    picked = chosen === null ? -1 : rows.findIndex((row) => row[4] === chosen);
    if (!rows.length) return;
    longest = rows.reduce((long, row) => Math.max(long, row[1] - row[0]), 0);
    least = rows[0][0];
    most = rows.reduce((last, row) => Math.max(last, row[1]), 0);
    if (told.more) {
      least = Math.min(least, Number(view.dataset.first || least));
      most = Math.max(most, Number(view.dataset.last || most));
    }
    place();
    paint();
    if (!keep) show(least - (most - least) * .03 - 60, most + (most - least) * .03 + 60);
    view.dataset.ready = told.more ? "newest" : "yes";
  };
  const load = async (keep) => {
    const first = await fetched(`?newest=${keep ? rows.length + SOON : SOON}`);
    if (!keep || !first.more) take(first, keep);
    if (first.more) take(await fetched(""), true);
  };
  load(false);
  document.addEventListener("episodes", () => load(true));
}
