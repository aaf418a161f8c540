import type { HistoryEntry } from "../../../contracts/history.ts";
import { plainText } from "../../../contracts/plain-text.ts";
import { counted, durationText, outcomeText } from "../../../contracts/format.ts";
import { agentAddress, runAddress } from "./addresses.ts";
import { exactTime } from "./format.ts";
import { countsText, percent } from "./timeline-layout.ts";
import type { Bar, Lane } from "./timeline-layout.ts";

const laneHeight = 26;
const margin = 4;
const gap = 1;
const leastWidth = 0.001;

/** One agent's lane in the timeline. `ticks` are shares of the width. */
export function TimelineLane(props: { readonly lane: Lane; readonly ticks: readonly number[] }) {
  const { lane, ticks } = props;
  const { agent, bars, rows } = lane;
  return (
    <li class="lane-row">
      <a class="lane-label" href={agentAddress(agent)} title={agent}>
        {agent}
      </a>
      <svg class="lane" role="img" height={laneHeight} aria-label={laneText(lane)}>
        <g class="grid">
          {ticks.map((tick) => (
            <line key={tick} x1={percent(tick)} x2={percent(tick)} y1={0} y2={laneHeight} />
          ))}
        </g>
        <g>
          {bars.map((bar) => (
            <BarLink key={bar.entry.id} bar={bar} rows={rows} />
          ))}
        </g>
      </svg>
    </li>
  );
}

/** A bar leads to its run's log by pointer; by keyboard the agent's page does, where runs are a table. */
function BarLink({ bar, rows }: { readonly bar: Bar; readonly rows: number }) {
  const { agent, instanceId } = bar.entry;
  const shape = barShape(bar, rows);
  if (instanceId === null || agent === null) return shape;
  return (
    <a href={runAddress(agent, instanceId)} tabIndex={-1}>
      {shape}
    </a>
  );
}

/** Failed runs are taller than others, and what never started is a thin mark: not by colour alone. */
function barShape({ entry, kind, from, to, row }: Bar, rows: number) {
  const room = (laneHeight - 2 * margin - (rows - 1) * gap) / rows;
  const extra = kind === "failed" ? 3 : kind === "refused" ? 2 : 0;
  return (
    <rect
      class={`bar ${kind}`}
      rx={2}
      x={percent(from)}
      // A rectangle without width is not drawn at all.
      width={percent(Math.max(to - from, leastWidth))}
      y={margin + row * (room + gap) - extra}
      height={kind === "refused" ? laneHeight - 2 * margin + 2 * extra : room + 2 * extra}
    >
      <title>{barText(entry)}</title>
    </rect>
  );
}

function barText(entry: HistoryEntry): string {
  const { agent, outcome, startedAt, durationMs, reason } = entry;
  const how = outcome === null ? "running" : outcomeText(outcome);
  return [
    `${agent ?? ""}: ${how}`,
    exactTime(Date.parse(startedAt ?? entry.at)),
    ...(durationMs === null ? [] : [durationText(durationMs)]),
    ...(reason === null ? [] : [plainText(reason)]),
  ].join("\n");
}

function laneText({ agent, bars }: Lane): string {
  const started = bars.filter(({ kind }) => kind !== "refused").length;
  return `${agent}: ${[counted(started, "run"), ...countsText(bars, true)].join(", ")}`;
}
