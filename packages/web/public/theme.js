// Runs before the first paint, so that a remembered choice does not flash the other theme. The policy of the
// server allows no script in the page itself, hence the file.
try {
  const theme = localStorage.getItem("trackside.theme");
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
} catch {
  // Storage is off: the page follows the system.
}
