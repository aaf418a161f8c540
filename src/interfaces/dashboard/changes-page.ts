import { differenceLine } from "../../foundation/contracts/difference-line.ts";
import type { RunDifference } from "../../foundation/contracts/run-view.ts";
import { agentAddress, runAddress } from "./browser/addresses.ts";
import { html } from "./html.ts";
import type { Html } from "./html.ts";
import type { Page } from "./layout.ts";
import { frameStyles, site } from "./site.ts";

/** What changed in what an agent ran, from one of its runs to another. */
export function changesPage(agent: string, { from, to, changed, text }: RunDifference): Page {
  return {
    title: `What changed · ${agent} · Almanac`,
    styles: [...frameStyles, "docs", "changes"],
    script: "changes",
    body: site({
      current: "agents",
      isBelow: true,
      isLive: false,
      main: html`<article class="docs">
        <h1>What changed</h1>
        <p><a href="${agentAddress(agent)}">${agent}</a></p>
        <table class="compared">
          <thead>
            <tr>
              <td></td>
              ${["Run", "Version", "Commit"].map((name) => html`<th scope="col">${name}</th>`)}
            </tr>
          </thead>
          <tbody>
            ${side(agent, "From", from)} ${side(agent, "To", to)}
          </tbody>
        </table>
        ${
          changed
            ? html`<pre class="changes" tabindex="0">${lines(text)}</pre>`
            : html`<p id="same">Both runs had the same config, files and instructions.</p>`
        }
        <p class="muted">
          Secret values show as hashes: a hash that differs is a value that differs. The same as
          text:
          <code>al show ${to.instanceId} --diff ${from.instanceId}</code>
        </p>
      </article>`,
    }),
  };
}

const shownDigits = 12;

function side(agent: string, label: string, run: RunDifference["from"]): Html {
  const { instanceId, version } = run;
  const { hash, commit, dirty } = version;
  return html`<tr>
    <th scope="row">${label}</th>
    <td>
      <a href="${runAddress(agent, instanceId)}">${instanceId}</a>
    </td>
    <td><code>${hash.slice(0, shownDigits)}</code></td>
    <td>
      ${commit === null ? "none" : html`<code title="${commit}">${commit.slice(0, shownDigits)}</code>`}
      ${dirty === true ? "with changes that were not committed" : null}
    </td>
  </tr>`;
}

/** A line each, with the colour of what it is. */
function lines(text: string): readonly Html[] {
  return text
    .replace(/\n$/, "")
    .split("\n")
    .map((line) => html`<span class="${differenceLine(line)}">${line}</span>`);
}
