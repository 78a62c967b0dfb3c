"use strict";
const parts = JSON.parse(document.getElementById("parts").textContent);
const at = (id) => document.getElementById(id);
let drawn = null;
let nonce = "";

async function send(path, body) {
  const options = body ? { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) } : {};
  const answer = await fetch(path, options);
  if (answer.status === 401) location.reload();
  const said = await answer.json();
  if (!answer.ok) throw new Error(said.error);
  return said;
}

async function next() {
  const said = await send("next");
  at("warning").hidden = true;
  at("work").hidden = Boolean(said.done);
  at("done").hidden = !said.done;
  if (said.done) return;
  nonce = said.nonce;
  drawn = drawTask(parts, said.task, at("task"));
  at("said").textContent = "";
  window.scrollTo(0, 0);
}

async function submit(skip) {
  if (!skip && drawn.missing().length) {
    at("said").textContent = "Please answer what is marked, or skip this one.";
    return;
  }
  await send("submit", skip ? { nonce, skip: true } : { nonce, answers: drawn.answers() });
  await next();
}

function guarded(action) {
  return (event) => {
    event.preventDefault();
    const buttons = document.querySelectorAll("button");
    buttons.forEach((button) => (button.disabled = true));
    action()
      .catch((error) => (at("said").textContent = error.message))
      .finally(() => buttons.forEach((button) => (button.disabled = false)));
  };
}

at("agree").addEventListener("click", guarded(next));
at("answer").addEventListener("submit", guarded(() => submit(false)));
at("skip").addEventListener("click", guarded(() => submit(true)));
at("agree").focus();
