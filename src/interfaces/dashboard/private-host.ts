/**
 * Redirects to the scheduler's private host if this origin knows it: from the page after a login, which names it, and
 * later from the login page. `remember` differs for each private host, so that the name of an earlier one is not used.
 */
const { remember = "", host = "", path = "" } = document.querySelector("main")?.dataset ?? {};
if (host !== "") localStorage.setItem(remember, host);
const known = localStorage.getItem(remember);
if (known !== null && known !== location.hostname) {
  const target = path === "" ? location.pathname + location.search : path;
  location.replace(`http://${known}:${location.port}${target}`);
}

export {};
