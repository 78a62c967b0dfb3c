// The theme's script wraps tables that scroll, and buttons that copy, without a name or a way in for a keyboard.
document$.subscribe(() => setTimeout(() => {
  for (const box of document.querySelectorAll(".md-typeset__scrollwrap")) box.tabIndex = 0;
  document.querySelectorAll(".md-code__nav").forEach((nav, at) => nav.setAttribute("aria-label", `Code ${at + 1}`));
}));
