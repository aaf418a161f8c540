import type { HttpProblem } from "../problem.ts";
import { html } from "./html.ts";
import { mark } from "./layout.ts";
import type { Page } from "./layout.ts";

/** What a person sees whose page can't be shown. */
export function errorPage(problem: HttpProblem): Page {
  const title = problem.status === 404 ? "Nothing here" : "This did not work";
  return {
    title: `${title} · Almanac`,
    styles: ["card"],
    body: html`<main class="card-page">
      <div class="card">
        ${mark}
        <h1>${title}</h1>
        <p class="muted">${problem.message}</p>
        <p class="after"><a href="/dashboard">Back to the dashboard</a></p>
      </div>
    </main>`,
  };
}
