import type { RunDifference } from "../../../../runtime/runs/run-view.ts";
import { Difference } from "../../runs/difference.tsx";
import { frameStyles, Site, type Frame } from "../../kit/site.tsx";
import type { LivePage } from "../../send-page.tsx";
import { agentAddress, runAddress } from "../../text/addresses.ts";

interface ChangesData {
  readonly frame: Frame;
  readonly agent: string;
  readonly difference: RunDifference;
}

/** The changes to an agent's config and instructions from one of its runs to another. */
export const page: LivePage<ChangesData> = {
  name: "changes",
  title: ({ agent }) => `What changed · ${agent}`,
  styles: [...frameStyles, "changes"],
  view: Changes,
};

function Changes({ frame, agent, difference }: ChangesData) {
  const { from, to, changed, text } = difference;
  return (
    <Site frame={frame} title={`What changed · ${agent}`} heading={null} current="agents" isBelow>
      <article class="docs">
        <h1>What changed</h1>
        <p>
          <a href={agentAddress(agent)}>{agent}</a>
        </p>
        <table class="compared">
          <thead>
            <tr>
              <td />
              <th scope="col">Run</th>
              <th scope="col">Version</th>
              <th scope="col">Commit</th>
            </tr>
          </thead>
          <tbody>
            <Side agent={agent} label="From" run={from} />
            <Side agent={agent} label="To" run={to} />
          </tbody>
        </table>
        {changed ? (
          <Difference text={text} />
        ) : (
          <p id="same">Both runs had the same config, files and instructions.</p>
        )}
        <p class="muted">
          Secret values show as hashes: a hash that differs is a value that differs. The same as
          text:{" "}
          <code>
            al show {to.instanceId} --diff {from.instanceId}
          </code>
        </p>
      </article>
    </Site>
  );
}

const shownDigits = 12;

interface SideProps {
  readonly agent: string;
  readonly label: string;
  readonly run: RunDifference["from"];
}

function Side({ agent, label, run }: SideProps) {
  const { hash, commit, dirty } = run.version;
  return (
    <tr>
      <th scope="row">{label}</th>
      <td>
        <a href={runAddress(agent, run.instanceId)}>{run.instanceId}</a>
      </td>
      <td>
        <code>{hash.slice(0, shownDigits)}</code>
      </td>
      <td>
        {commit === null ? "none" : <code title={commit}>{commit.slice(0, shownDigits)}</code>}{" "}
        {dirty === true ? "with uncommitted changes" : ""}
      </td>
    </tr>
  );
}
