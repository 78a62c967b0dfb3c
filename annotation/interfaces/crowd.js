"use strict";
const read = (id) => JSON.parse(document.getElementById(id).textContent);
const at = (id) => document.getElementById(id);
const parts = read("parts");
const tasks = read("tasks");
const asked = new URLSearchParams(location.search);
const given = {};
let place = -1;
let drawn = null;
let since = 0;
let stopped = 0;

// Mechanical Turk shows the page before the task is accepted; nothing can be sent then
const preview = asked.get("assignmentId") === "ASSIGNMENT_ID_NOT_AVAILABLE";
document.querySelector("input[name=assignmentId]").value = asked.get("assignmentId") || "";

function next() {
  place += 1;
  at("said").textContent = "";
  if (place === tasks.length) return finish();
  at("place").textContent = inLanguage("{place} of {of}", { place: place + 1, of: tasks.length });
  drawn = drawTask(parts, tasks[place], at("task"));
  // before the first answer there is nothing to send
  at("stop").hidden = place === 0;
  since = performance.now();
  window.scrollTo(0, 0);
}

function keep(answer) {
  const seconds = Math.round(performance.now() - since) / 1000;
  given[tasks[place].item] = { ...answer, seconds, at: new Date().toISOString() };
  next();
}

// also where somebody stops early, who may think better of it
function finish() {
  stopped = performance.now();
  at("said").textContent = "";
  at("end").textContent =
    place < tasks.length
      ? inLanguage("You stopped after {place} of {of}", { place, of: tasks.length })
      : inLanguage("That was all");
  at("back").hidden = place === tasks.length;
  at("work").hidden = true;
  at("done").hidden = false;
  at("answers").value = JSON.stringify(given);
  at("send").focus();
}

at("agree").addEventListener("click", () => {
  if (preview) {
    at("said").textContent = inLanguage("Accept the task first.");
    return;
  }
  at("warning").hidden = true;
  at("work").hidden = false;
  next();
});
at("submit").addEventListener("click", () => {
  if (drawn.missing().length) at("said").textContent = inLanguage("Please answer what is marked, or skip this one.");
  else keep({ answers: drawn.answers() });
});
at("skip").addEventListener("click", () => keep({ skipped: true }));
at("stop").addEventListener("click", finish);
at("back").addEventListener("click", () => {
  since += performance.now() - stopped;
  at("said").textContent = "";
  at("done").hidden = true;
  at("work").hidden = false;
  at("submit").focus();
});
at("task").addEventListener("keydown", (event) => {
  if (event.key === "Enter") {
    event.preventDefault();
    at("submit").click();
  }
});
at("agree").focus();
