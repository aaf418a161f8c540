import type { ReplayResult } from "../../../contracts/operator-api.ts";
import { outcomeText } from "../../../contracts/format.ts";
import { announce, post } from "./actions.ts";
import { Button } from "./buttons.tsx";
import { RunLink } from "./run-parts.tsx";

/** Runs stored work again. */
export function ReplayButton(props: {
  readonly text: string;
  readonly path: string;
  readonly onResult: (result: ReplayResult) => void;
}) {
  const { text, path, onResult } = props;
  const replay = async (): Promise<void> => {
    const result = await post<ReplayResult>(path);
    if (result === null) return;
    onResult(result);
    announce(textOf(result));
  };
  return (
    <Button class="button acts" onPress={replay}>
      {text}
    </Button>
  );
}

/** What became of replayed work. */
export function Replayed({ result }: { readonly result: ReplayResult }) {
  const { matched } = result;
  return (
    <div class="replayed">
      {matched.length === 0 && <p>{textOf(result)}</p>}
      {matched.map((match) => (
        <p key={match.agent}>
          {matchText(match)}
          {match.instanceId !== undefined && ", see "}
          {match.instanceId !== undefined && (
            <RunLink agent={match.agent} instanceId={match.instanceId} text="its log" />
          )}
        </p>
      ))}
    </div>
  );
}

function textOf({ matched, reason }: ReplayResult): string {
  if (matched.length > 0) return matched.map(matchText).join(", ");
  return `Replayed, and no agent matched: ${reason ?? "no filter let it through"}`;
}

function matchText({ agent, outcome, reason }: ReplayResult["matched"][number]): string {
  const words =
    outcome === "started"
      ? "was started"
      : outcome === "queued"
        ? "is queued"
        : `was ${outcomeText(outcome)}`;
  return `Replayed: ${agent} ${words}${reason === undefined ? "" : `: ${reason}`}`;
}
