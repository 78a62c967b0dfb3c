"use strict";
let parts = [];
const at = (id) => document.getElementById(id);
const pause = (seconds) => new Promise((done) => setTimeout(done, 1000 * seconds));
let drawn = null;
let nonce = "";
let kept = "{}";
let timer = 0;
let waited = 0;
let until = Infinity;
let warned = "";
const TITLE = document.title;
const SOON = 120000; // milliseconds before a task is given to others

function post(path, body) {
  return fetch(path, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });
}

// an answer has a name of its own, the nonce, so it is safe to send it again
async function send(path, body = {}) {
  for (let tries = 1; ; tries += 1) {
    let answer = null;
    try {
      answer = await post(path, body);
    } catch {
      at("said").textContent = inLanguage("No connection. Your answer stays on this page and is sent again.");
    }
    if (answer?.status === 401) location.reload();
    if (answer && ![401, 429, 503].includes(answer.status)) {
      const said = await answer.json();
      at("said").textContent = "";
      if (!answer.ok) throw new Error(said.error);
      return said;
    }
    await pause(Math.min(10, Number(answer?.headers.get("Retry-After")) || tries));
  }
}

// what is filled in and did not reach the server yet, for a page that is loaded again; some browsers keep nothing
function unsent(answers) {
  try {
    if (answers === null) localStorage.removeItem("unsent");
    else if (answers) localStorage.setItem("unsent", JSON.stringify({ nonce, answers }));
    const found = JSON.parse(localStorage.getItem("unsent"));
    return found?.nonce === nonce ? found.answers : null;
  } catch {
    return null;
  }
}

// the server holds the task for so long from now on
function held(seconds) {
  until = Date.now() + 1000 * seconds;
  remind();
}

// a page that was hidden or without a connection for long says when its task goes to others
function remind() {
  const soon = drawn && Date.now() > until - SOON;
  const time = new Date(until).toLocaleTimeString(document.documentElement.lang, { timeStyle: "short" });
  const told = soon ? inLanguage("This task waits for you until {time}. Then it may go to somebody else.", { time }) : "";
  document.title = told || TITLE;
  at("warning").textContent = told || warned;
}

// the server holds a break until the page says that it is over, and explains a practice task to a page loaded again
async function next(about = {}) {
  const said = await send("/next", about);
  if (said.done) return location.assign("/done");
  if (said.rest) {
    owed(said);
    return rest(said.rest);
  }
  if (said.wait) {
    waited += said.wait;
    at("work").hidden = true;
    at("said").textContent = inLanguage("Others are at the last tasks. One may become free; please wait up to a minute.");
    if (waited > 60) return document.querySelector("#leaving form").submit();
    await pause(said.wait);
    return next();
  }
  waited = 0;
  nonce = said.nonce;
  parts = said.parts;
  const numbers = { place: said.place, of: said.of };
  at("place").textContent = said.practice ? inLanguage("Practice {place} of {of}", numbers) : inLanguage("{place} of {of}", numbers);
  warned = said.warn ? inLanguage("Many of your answers came faster than the tasks can be read. Please take your time; if this goes on, the study ends for you.") : "";
  owed(said);
  at("work").hidden = false;
  for (const id of ["resting", "feedback"]) at(id).hidden = true;
  at("answer").querySelector(".actions").hidden = false;
  drawn = drawTask(parts, said.task, at("task"));
  drawn.restore(said.draft);
  kept = JSON.stringify(drawn.answers());
  const written = unsent();
  if (written) drawn.restore(written);
  held(said.hold);
  at("notes").textContent = "";
  window.scrollTo(0, 0);
  if (said.feedback) explain(said.feedback);
}

function owed({ pay, reward }) {
  at("owed").textContent = inLanguage("If you stop now, you are paid {pay} of {reward}. After stopping you cannot come back.", { pay, reward });
}

// a break: the next task is asked for, and its time begins, when the person goes on
function rest({ answered, until }) {
  drawn = null;
  const time = new Date(1000 * until).toLocaleString(document.documentElement.lang, { dateStyle: "medium", timeStyle: "short" });
  at("rest").textContent = until
    ? inLanguage("You did as many tasks as one should in 24 hours. From {time} on you get more by the same link. Or stop here; what you did is paid.", { time })
    : inLanguage("You answered {count} tasks. This is a good time for a break. The next task waits until you go on.", { count: answered });
  for (const id of ["work", "feedback"]) at(id).hidden = true;
  at("resting").hidden = false;
  at("onwards").hidden = Boolean(until);
  window.scrollTo(0, 0);
}

// also once a minute while nothing changes: it holds the task for whoever has it before them
async function keep(always) {
  const said = drawn && JSON.stringify(drawn.answers());
  if (!drawn || (said === kept && !always)) return;
  const about = nonce;
  try {
    const answer = await post("/draft", { nonce, answers: JSON.parse(said) });
    const found = await answer.json();
    if (!answer.ok || about !== nonce) return;
    kept = said;
    if (JSON.stringify(drawn.answers()) === said) unsent(null);
    held(found.hold);
    at("notes").textContent = noted([...found.problems, ...found.warnings]);
  } catch {
    // the next change is sent again
  }
}

const noted = (sentences) => (sentences.length ? inLanguage("Note: {note}.", { note: sentences.join("; ") }) : "");

async function submit(skip) {
  if (!skip && drawn.missing().length) {
    at("said").textContent = inLanguage("Please answer what is marked, or skip this one.");
    return;
  }
  clearTimeout(timer);
  const said = await (skip ? send("/skip", { nonce }) : send("/answer", { nonce, answers: drawn.answers() }));
  unsent(null);
  if (said.feedback) explain(said.feedback);
  else await next();
}

// the practice task stays on the page, with the right answer under each question that was answered otherwise
function explain(feedback) {
  const given = drawn.answers();
  let wrong = 0;
  for (const field of at("task").querySelectorAll("fieldset")) {
    const right = feedback.right[field.dataset.question];
    field.querySelectorAll("input").forEach((input) => (input.disabled = true));
    if (!right || given[field.dataset.question] === right) continue;
    const part = parts.find((one) => one.name === field.dataset.question);
    const told = document.createElement("p");
    told.className = "told";
    told.textContent = inLanguage("The right answer is: {answer}", { answer: part.labels[part.choices.indexOf(right)] || right });
    field.append(told);
    wrong += 1;
  }
  drawn = null;
  at("verdict").textContent = wrong ? inLanguage("Not quite right.") : inLanguage("That is right.");
  at("reason").textContent = feedback.reason;
  at("notes").textContent = "";
  at("answer").querySelector(".actions").hidden = true;
  at("feedback").hidden = false;
  at("onward").disabled = false;
  at("onward").focus();
}

function guarded(action) {
  return (event) => {
    event?.preventDefault();
    const buttons = document.querySelectorAll("button");
    buttons.forEach((button) => (button.disabled = true));
    action()
      .catch((error) => {
        at("notes").textContent = "";
        at("said").textContent = noted([error.message]);
      })
      .finally(() => buttons.forEach((button) => (button.disabled = false)));
  };
}

function leaving(yes) {
  at("leaving").hidden = !yes;
  at(drawn ? "work" : "resting").hidden = yes;
  if (yes) at("stay").focus();
}

at("answer").addEventListener("submit", guarded(() => submit(false)));
at("skip").addEventListener("click", guarded(() => submit(true)));
at("onward").addEventListener("click", guarded(() => next()));
at("onwards").addEventListener("click", guarded(() => next({ rested: true })));
at("enough").addEventListener("click", () => leaving(true));
at("leave").addEventListener("click", () => leaving(true));
at("stay").addEventListener("click", () => leaving(false));
at("task").addEventListener("input", () => {
  unsent(drawn?.answers());
  clearTimeout(timer);
  timer = setTimeout(keep, 2000);
});
setInterval(() => document.hidden || keep(true), 60000);
setInterval(remind, 15000);
document.addEventListener("visibilitychange", () => document.hidden || keep(true));
window.addEventListener("pagehide", () => {
  if (!drawn || JSON.stringify(drawn.answers()) === kept) return;
  const body = new Blob([JSON.stringify({ nonce, answers: drawn.answers() })], { type: "application/json" });
  navigator.sendBeacon("/draft", body);
});
guarded(() => next({ loaded: true }))();
