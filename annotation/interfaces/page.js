"use strict";
const translations = JSON.parse(document.getElementById("texts").textContent);

// A text of the page in the language of the study, English where there is none; {name} is one of the values.
function inLanguage(text, values = {}) {
  return (translations[text] || text).replace(/\{(\w+)\}/g, (all, name) => (name in values ? values[name] : all));
}

// Draws one task from the parts of an interface; words come in as text, never as HTML.
function drawTask(parts, task, root) {
  const make = (tag, words, kind) => {
    const element = document.createElement(tag);
    if (words) element.textContent = words;
    if (kind) element.className = kind;
    return element;
  };
  const filled = (words) => words.replace(/\$(\w+)/g, (all, name) => (name in task ? task[name] : all));
  root.replaceChildren();
  let key = 0;
  const keys = {};
  const required = [];
  for (const part of parts) {
    if ("words" in part) {
      root.append(make(part.headline ? "h2" : "p", filled(part.words), part.headline ? "" : "shown"));
      continue;
    }
    const field = make("fieldset");
    field.dataset.question = part.name;
    // a screen reader names the group by the sentence or question above it
    const above = root.lastElementChild;
    const asked = above && above.tagName !== "FIELDSET" ? above.textContent : part.name.replaceAll("_", " ");
    field.setAttribute("aria-label", asked);
    if (!part.choices.length) {
      const input = make("input");
      input.name = part.name;
      input.placeholder = part.placeholder;
      input.maxLength = 500;
      input.autocomplete = "off";
      input.setAttribute("aria-label", part.name.replaceAll("_", " "));
      // Enter goes on to the next text that is missing, and submits only where none is
      input.addEventListener("keydown", (event) => {
        const empty = [...root.querySelectorAll("input:not([type])")].find((other) => other !== input && !other.value.trim());
        if (event.key !== "Enter" || !input.value.trim() || !empty) return;
        event.preventDefault();
        event.stopPropagation();
        empty.focus();
      });
      field.append(input);
    }
    part.choices.forEach((choice, place) => {
      const label = make("label");
      const input = make("input");
      input.type = part.several ? "checkbox" : "radio";
      input.name = part.name;
      input.value = choice;
      label.title = part.hints[place] || "";
      label.append(input, " " + (part.labels[place] || choice));
      key += 1;
      if (key <= 9) {
        keys[String(key)] = input;
        label.append(make("kbd", String(key)));
      }
      field.append(label);
    });
    if (part.required) required.push(part.name);
    root.append(field);
  }
  const answers = () => {
    const given = {};
    for (const input of root.querySelectorAll("input")) {
      if (input.type === "checkbox") {
        if (input.checked) (given[input.name] ||= []).push(input.value);
      } else if (input.type === "radio" ? input.checked : input.value.trim()) {
        given[input.name] = input.value.trim();
      }
    }
    return given;
  };
  const restore = (given) => {
    for (const input of root.querySelectorAll("input")) {
      const said = given[input.name] ?? "";
      if (["radio", "checkbox"].includes(input.type)) input.checked = [said].flat().includes(input.value);
      else input.value = said;
    }
  };
  const missing = () => {
    const given = answers();
    const names = required.filter((name) => !(name in given));
    for (const field of root.querySelectorAll("fieldset")) {
      field.classList.toggle("missing", names.includes(field.dataset.question));
    }
    return names;
  };
  root.onchange = () => {
    if (root.querySelector(".missing") && !missing().length) document.getElementById("said").textContent = "";
  };
  document.onkeydown = (event) => {
    const writing = event.target.tagName === "INPUT" && !["radio", "checkbox"].includes(event.target.type);
    if (root.offsetParent && !writing && !event.ctrlKey && !event.altKey && !event.metaKey && keys[event.key]) {
      keys[event.key].focus();
      keys[event.key].click();
      event.preventDefault();
    }
  };
  root.querySelector("input:not([type])")?.focus();
  return { answers, missing, restore };
}
