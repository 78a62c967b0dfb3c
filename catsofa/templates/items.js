"use strict";
const MORE = 50, LONG = 80;
const at = id => document.getElementById(id);
const make = (tag, text = "", name = "") =>
  Object.assign(document.createElement(tag), { textContent: text, className: name });
const box = letter => make("span", letter, `box ${{ S: "s", A: "a", "?": "none" }[letter] || ""}`);
const cut = text => text.length > LONG ? text.slice(0, LONG) + "…" : text;
const known = number => typeof number === "number";
const spoken = (number, digits) => known(number) ? number.toFixed(digits) : "—";
const mean = numbers => numbers.length ? numbers.reduce((sum, one) => sum + one, 0) / numbers.length : null;

let set, places = [], shown = 0;

/* the text of the page's data element is base64 of gzip of JSON: no text of a data set can end the element */
async function unpacked() {
  const bytes = Uint8Array.from(atob(at("data").textContent), letter => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).json();
}

function prepare(one) {
  one.items = one.items.map(item => ({ domain: "", term: "", context: "", task: "", language: "", texts: [], ...item }));
  one.apart = one.items.map((_, place) => {
    const values = one.values.map(column => column[place]).filter(known), middle = mean(values);
    return values.length > 1 ? Math.sqrt(mean(values.map(value => (value - middle) ** 2))) : null;
  });
  one.middle = one.items.map((_, place) => mean(one.values.map(column => column[place]).filter(known)));
  one.words = one.items.map(item => [item.id, item.domain, item.term, item.context, ...item.texts.map(([, text]) => text)].join("\n").toLowerCase());
  return one;
}

function options(select, names, first) {
  const chosen = [...names].map((name, value) => {
    const option = make("option", cut(name) || "—");
    option.value = value;
    return option;
  });
  if (first) { const every = make("option", first); every.value = ""; chosen.unshift(every); }
  select.replaceChildren(...chosen);
}

const distinct = names => [...new Set(names)].sort((one, other) => one.localeCompare(other));

function choose(number) {
  set = sets[number];
  set.domains = distinct(set.items.map(item => item.domain));
  options(at("domain"), set.domains, "all");
  options(at("model"), set.models, set.models.length > 1 ? "any" : "");
  options(at("outcome"), set.outcomes.map(outcome => outcome.name), "any");
  for (const id of ["by-term", "by-domain", "by-outcome"])
    at(id).hidden = { "by-term": !set.items.some(item => item.term), "by-domain": set.domains.length < 2, "by-outcome": !set.outcomes.length }[id];
  at("by-model").hidden = set.models.length < 2;
  for (const option of at("sort").options) option.disabled = option.hidden = option.value.endsWith("spread") && set.models.length < 2;
  at("sort").value = set.models.length < 2 ? "order" : "-spread";
  at("about").textContent = set.about;
  at("numbers").textContent = set.models.length > 1
    ? `The number at the right says how far the models disagree: the standard deviation over models of ${set.spread}.`
    : `The number at the right is the ${set.scored}.`;
  at("legend").replaceChildren(...set.outcomes.map(({ letter, name }) => {
    const entry = make("li");
    entry.append(box(letter), make("span", name));
    return entry;
  }));
  at("models").replaceChildren(...set.models.map(name => make("li", name)));
  terms();
}

function terms() {
  const domain = at("domain").value === "" ? null : set.domains[at("domain").value];
  set.terms = distinct(set.items.filter(item => domain === null || item.domain === domain).map(item => item.term));
  options(at("term"), set.terms, "all");
  filter();
}

function filter() {
  const [domain, term] = ["domain", "term"].map(id => at(id).value === "" ? null : set[`${id}s`][at(id).value]);
  const model = set.models.length < 2 ? 0 : at("model").value === "" ? null : Number(at("model").value);
  const outcome = at("outcome").value === "" ? null : Number(at("outcome").value);
  const words = at("search").value.trim().toLowerCase();
  const columns = model === null ? set.outcome : [set.outcome[model]];
  places = [...set.items.keys()].filter(place =>
    (domain === null || set.items[place].domain === domain) && (term === null || set.items[place].term === term) &&
    (outcome === null || columns.some(column => column[place] === outcome)) &&
    set.words[place].includes(words));
  const [sign, key] = [at("sort").value.startsWith("-") ? -1 : 1, at("sort").value.replace("-", "")];
  const numbers = key === "spread" ? set.apart : model === null ? set.middle : set.score[model];
  if (key !== "order")
    places.sort((one, other) => known(numbers[one]) && known(numbers[other]) ? sign * (numbers[one] - numbers[other]) || one - other
      : known(numbers[other]) - known(numbers[one]) || one - other);
  at("sorted").textContent = key === "score" ? `The score is ${model === null ? set.mean : `${set.scored} of ${set.models[model]}`}.` : "";
  at("count").textContent = `${places.length.toLocaleString("en")} of ${set.items.length.toLocaleString("en")} items`;
  at("list").replaceChildren();
  shown = 0;
  more();
}

function more() {
  at("list").append(...places.slice(shown, shown + MORE).map(row));
  shown = Math.min(shown + MORE, places.length);
  at("more").hidden = shown === places.length;
  at("more").textContent = `Show ${Math.min(MORE, places.length - shown)} more`;
}

function row(place) {
  const item = set.items[place], entry = make("li"), fold = make("details"), head = make("summary");
  head.append(make("bdi", cut(item.term || item.id), "term"), make("bdi", cut(item.domain), "domain"));
  if (set.outcomes.length) {
    const strip = make("span", "", "strip");
    strip.setAttribute("role", "img");
    strip.setAttribute("aria-label", set.models.map((name, model) => `${name}: ${set.outcomes[set.outcome[model][place]].name}`).join("; "));
    strip.append(...set.outcome.map(column => box(set.outcomes[column[place]].letter)));
    head.append(strip);
  }
  head.append(make("span", spoken(set.models.length > 1 ? set.apart[place] : set.score[0][place], 2), "number"));
  fold.append(head);
  fold.addEventListener("toggle", () => { if (fold.open && fold.children.length < 2) fold.append(opened(place)); });
  entry.append(fold);
  return entry;
}

function opened(place) {
  const item = set.items[place], inside = make("div", "", "inside");
  const part = (name, text) => {
    const box = make("bdi", text, "text");
    if (text.length > 600) Object.assign(box, { tabIndex: 0 }).setAttribute("role", "group");
    if (text.length > 600) box.setAttribute("aria-label", name);
    return [make("dt", name), Object.assign(make("dd"), { lang: item.language || "" }).appendChild(box).parentNode];
  };
  const texts = make("dl");
  if (item.context) texts.append(...part("context", item.context));
  for (const [name, text] of item.texts) texts.append(...part(name, text));
  inside.append(texts);
  const scroll = make("div", "", "scroll"), table = make("table"), head = make("tr"), body = make("tbody");
  Object.assign(scroll, { tabIndex: 0 }).setAttribute("role", "group");
  scroll.setAttribute("aria-label", "Scores of each model");
  const noted = set.notes.some(notes => notes[place]), numbers = [...set.parts.map(part => part.name), set.scored];
  for (const name of ["model", ...(set.outcomes.length ? ["outcome"] : []), ...numbers, ...(noted ? [set.noted] : [])])
    head.append(Object.assign(make("th", name, numbers.includes(name) ? "r" : ""), { scope: "col" }));
  set.models.forEach((name, model) => {
    const line = make("tr"), outcome = set.outcomes[set.outcome[model]?.[place]];
    line.append(Object.assign(make("th", name), { scope: "row" }));
    if (outcome) line.append(make("td", outcome.name));
    line.append(...set.scores[model].map((column, part) =>
      make("td", set.parts[part].count && known(column[place]) ? String(column[place]) : spoken(column[place], set.digits), "n r")));
    line.append(make("td", spoken(set.score[model][place], set.digits), "n r"));
    if (noted) line.append(make("td", set.notes[model][place] || ""));
    body.append(line);
  });
  table.append(make("thead"), body);
  table.tHead.append(head);
  described(table);
  scroll.append(table);
  inside.append(scroll, make("p", `${item.task ? `${item.task} · ` : ""}${item.id}`, "note id"));
  return inside;
}

/* a phone shows each cell as a line with its heading; the roles stay those of a table */
function described(table) {
  const names = [...table.tHead.rows[0].cells].map(one => one.textContent);
  table.setAttribute("role", "table");
  for (const part of [table.tHead, ...table.tBodies]) part.setAttribute("role", "rowgroup");
  for (const line of table.rows) {
    line.setAttribute("role", "row");
    [...line.cells].forEach((one, place) => {
      one.dataset.name = names[place];
      one.setAttribute("role", { col: "columnheader", row: "rowheader" }[one.scope] || "cell");
    });
  }
}

/* arrows move between items, Escape closes the one in which it is pressed */
at("list").addEventListener("keydown", event => {
  const heads = [...at("list").querySelectorAll("summary")], here = event.target.closest("details");
  const now = heads.indexOf(event.target);
  const next = { ArrowDown: now + 1, ArrowUp: now - 1, Home: 0, End: heads.length - 1 }[event.key];
  if (event.key === "Escape" && here) { here.open = false; here.firstChild.focus(); }
  else if (now < 0 || next === undefined || !heads[next]) return;
  else heads[next].focus();
  event.preventDefault();
});

let sets, wait;
unpacked().then(found => {
  sets = found.map(prepare);
  options(at("set"), sets.map(one => one.title));
  at("by-set").hidden = sets.length < 2;
  at("set").addEventListener("change", () => choose(Number(at("set").value)));
  at("domain").addEventListener("change", terms);
  for (const id of ["term", "model", "outcome", "sort"]) at(id).addEventListener("change", filter);
  at("search").addEventListener("input", () => { clearTimeout(wait); wait = setTimeout(filter, 120); });
  at("controls").addEventListener("submit", event => event.preventDefault());
  at("more").addEventListener("click", () => {
    const first = shown;
    more();
    at("list").children[first].querySelector("summary").focus();
  });
  choose(0);
  at("wait").hidden = true;
  at("ready").hidden = false;
}, () => { at("wait").textContent = "This browser cannot unpack the items. Open the page with a browser of 2023 or later."; });
