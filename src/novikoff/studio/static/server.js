// Requests to the studio's own server, which are all that this page makes.

async function answer(response) {
  if (response.ok) return response;
  const body = await response.json().catch(() => ({}));
  throw new Error(body.error ?? `The studio answered ${response.status}.`);
}

const json = (value, signal) => ({ method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(value), signal });

export const listScenes = async () => (await answer(await fetch("api/scenes"))).json();
export const fetchScene = async (name) => (await answer(await fetch(`api/scenes/${encodeURIComponent(name)}`))).json();
export const makeRecord = async (points, settings, signal) => (await answer(await fetch("api/records", json({ points, settings }, signal)))).json();
export const makePage = async (request) => (await answer(await fetch("api/page", json(request)))).blob();
export const fetchLesson = async () => (await answer(await fetch("api/lesson"))).json();
export const getJson = async (path) => (await answer(await fetch(path))).json();
export const postJson = async (path, value) => (await answer(await fetch(path, json(value)))).json();
export const upload = async (file) => (await answer(await fetch(`api/files?name=${encodeURIComponent(file.name)}`, { method: "POST", headers: { "Content-Type": "application/octet-stream" }, body: file }))).json();
