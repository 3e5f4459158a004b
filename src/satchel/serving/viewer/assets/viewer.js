// The one script of the viewer. Every page works without it: links are links, forms are forms. It adds what a
// page cannot do alone: keys, answers without a reload, copying, and names that are looked up by a click.

const find = (selector, root = document) => root.querySelector(selector);
const all = (selector, root = document) => [...root.querySelectorAll(selector)];
const live = () => find("#live");
const say = (text) => { const place = find("#said"); if (place) place.textContent = text; };
const PAGES = { a: "/", p: "/pack", c: "/code", m: "/map", q: "/quality", s: "/status" };
const TYPING_MS = 250; // after which a moved slider packs again

document.documentElement.classList.add("js");

async function load(address) {
  const response = await fetch(address, { headers: { accept: "text/html" } });
  if (response.redirected && new URL(response.url).pathname === "/login") { location.reload(); return null; }
  return new DOMParser().parseFromString(await response.text(), "text/html");
}

// Shows another state of the page without leaving it; a later request wins over an earlier one.
let latest = 0;
async function show(address, { push = false } = {}) {
  const own = ++latest;
  live().classList.add("is-loading");
  const active = document.activeElement?.id;
  const page = await load(address).catch(() => null);
  if (own !== latest) return;
  live().classList.remove("is-loading");
  const fresh = page && find("#live", page);
  if (!fresh) { location.assign(address); return; }
  live().replaceChildren(...fresh.childNodes);
  document.title = page.title;
  history[push ? "pushState" : "replaceState"](null, "", address);
  if (active) document.getElementById(active)?.focus({ preventScroll: true });
  prepare();
}

function formAddress(form) {
  const values = new URLSearchParams();
  for (const [name, value] of new FormData(form)) if (value !== "") values.append(name, value);
  return `${form.getAttribute("action")}?${values}`;
}

let waiting = 0;
document.addEventListener("input", (event) => {
  const field = event.target;
  const output = field.id && find(`output[for="${CSS.escape(field.id)}"]`);
  if (output) output.textContent = Number(field.value).toLocaleString("en");
  if (field.type !== "range" || !field.form?.matches("[data-live]")) return;
  clearTimeout(waiting);
  waiting = setTimeout(() => show(formAddress(field.form)), TYPING_MS);
});
document.addEventListener("change", (event) => {
  if (event.target.form?.matches("[data-submit-on-change]")) event.target.form.submit();
});
document.addEventListener("submit", (event) => {
  const form = event.target;
  if (form.matches("[data-names]")) { event.preventDefault(); lookUp(find("#name", form).value); }
  else if (form.matches("[data-live]")) { event.preventDefault(); show(formAddress(form), { push: true }); }
  else if (form.method === "get") { event.preventDefault(); location.assign(formAddress(form)); }
});
addEventListener("popstate", () => { if (!location.hash) show(location.href); });

// Colours: the system's, or the other ones; the server reads the choice, so that no page flashes.
function toggleTheme() {
  const root = document.documentElement;
  const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
  document.cookie = `satchel_theme=${root.dataset.theme}; path=/; max-age=31536000; SameSite=Strict`;
  say(`${root.dataset.theme} colours`);
}

async function copy(button) {
  const source = button.dataset.copyFrom && document.getElementById(button.dataset.copyFrom);
  const text = source ? source.textContent : await fetch(button.href).then((answer) => answer.text());
  const label = button.textContent;
  try { await navigator.clipboard.writeText(text); button.textContent = "Copied"; say("Copied"); }
  catch { if (button.href) location.assign(button.href); else button.textContent = "Not allowed"; }
  setTimeout(() => { button.textContent = label; }, 1500);
}

// Names: a click on one in the code shows its definition and sure uses beside it.
async function lookUp(name) {
  const place = find("#uses");
  if (!place || !name.trim()) return;
  const address = new URL(location.href);
  address.searchParams.set("name", name.trim());
  place.classList.add("is-loading");
  const page = await load(address).catch(() => null);
  place.classList.remove("is-loading");
  const fresh = page && find("#uses", page);
  if (!fresh) return;
  place.replaceChildren(...fresh.childNodes);
  find("#name").value = name.trim();
  history.replaceState(null, "", address);
}

function wordAt(event) {
  const caret = document.caretPositionFromPoint?.(event.clientX, event.clientY);
  const range = caret ? { node: caret.offsetNode, at: caret.offset } : (() => {
    const found = document.caretRangeFromPoint?.(event.clientX, event.clientY);
    return found && { node: found.startContainer, at: found.startOffset };
  })();
  if (!range || range.node.nodeType !== Node.TEXT_NODE) return "";
  const text = range.node.textContent;
  const before = text.slice(0, range.at).match(/[\p{L}\p{N}_$]*$/u)[0];
  const after = text.slice(range.at).match(/^[\p{L}\p{N}_$]*/u)[0];
  return /^[\p{L}_$]/u.test(before + after) ? before + after : "";
}

// Lines: a click on a number chooses it, with shift up to it; the address keeps the choice.
function markLines() {
  const match = /^#L(\d+)(?:-L?(\d+))?$/.exec(location.hash);
  all(".whole tr.chosen").forEach((row) => row.classList.remove("chosen"));
  if (!match) return null;
  const [first, last] = [Number(match[1]), Number(match[2] ?? match[1])].sort((a, b) => a - b);
  for (let line = first; line <= Math.min(last, first + 5000); line++) document.getElementById(`L${line}`)?.classList.add("chosen");
  return first;
}
function chooseLine(event, link) {
  const match = /^#L(\d+)/.exec(location.hash);
  if (!event.shiftKey || !match) return;
  event.preventDefault();
  const line = Number(link.hash.slice(2));
  const [first, last] = [Number(match[1]), line].sort((a, b) => a - b);
  history.replaceState(null, "", `#L${first}-L${last}`);
  markLines();
}
addEventListener("hashchange", markLines);

document.addEventListener("click", (event) => {
  const target = event.target;
  const link = target.closest?.("a");
  if (target.closest?.("[data-theme-toggle]")) toggleTheme();
  else if (target.closest?.("[data-help]")) find("#help").showModal();
  else if (target.closest?.("[data-copy], [data-copy-from]")) { event.preventDefault(); copy(target.closest("[data-copy], [data-copy-from]")); }
  else if (link?.closest(".whole .no")) chooseLine(event, link);
  else if (link?.matches("[data-load], [data-explain], .chip, [data-in-place]") && plainClick(event)) { event.preventDefault(); show(link.getAttribute("href"), { push: true }); }
  else if (target.closest?.(".whole .tx") && getSelection().isCollapsed) { const word = wordAt(event); if (word) lookUp(word); }
});
const plainClick = (event) => event.button === 0 && !event.ctrlKey && !event.metaKey && !event.shiftKey && !event.altKey;

// Keys: pieces are the hits of a page, the items of a pack, the rows of a folder.
let chosen = -1;
function choose(step) {
  const pieces = all("[data-piece]");
  if (!pieces.length) return;
  chosen = Math.max(0, Math.min(pieces.length - 1, chosen + step));
  pieces.forEach((piece, at) => piece.classList.toggle("chosen", at === chosen));
  pieces[chosen].focus({ preventScroll: true });
  pieces[chosen].scrollIntoView({ block: "nearest" });
}
let before = "";
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const typing = event.target.matches?.("input:not([type=range]), textarea, select");
  if (event.key === "Escape") { event.target.blur?.(); return; }
  if (typing || find("#help")?.open) return;
  const piece = all("[data-piece]")[chosen];
  const keys = {
    "/": () => find("#q")?.focus(),
    j: () => choose(1),
    k: () => choose(-1),
    Enter: () => { if (document.activeElement === piece) find("a.path, a", piece)?.click(); else return false; },
    "?": () => (find("[data-explain]", piece ?? document))?.click(),
    c: () => find("[data-copy]")?.click(),
    t: toggleTheme,
    h: () => find("#help")?.showModal(),
  };
  const leads = before === "g" && PAGES[event.key];
  before = event.key;
  if (leads) { event.preventDefault(); location.assign(find(`.top nav a[href^="${leads}"]`)?.href ?? leads); return; }
  const act = keys[event.key];
  if (act && act() !== false) event.preventDefault();
});

// A part that takes longer than the rest of its page is fetched once the page is there.
async function loadPart(link) {
  const page = await load(link.href).catch(() => null);
  const part = page && find(link.dataset.auto, page);
  if (part) find(link.dataset.auto)?.replaceWith(part);
}

function prepare() {
  chosen = -1;
  all("[data-auto]").forEach(loadPart);
  const center = find(".graph .center rect"); // on a narrow screen it may stand outside
  if (center) center.closest(".scroll").scrollLeft = center.x.baseVal.value + center.width.baseVal.value / 2 - innerWidth / 2;
  const line = markLines() ?? /^(\d+)/.exec(new URLSearchParams(location.search).get("lines") ?? "")?.[1];
  if (line && document.body.classList.contains("page-code") && !scrollY) document.getElementById(`L${line}`)?.scrollIntoView({ block: "center" });
}
prepare();
