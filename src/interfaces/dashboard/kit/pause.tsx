import type { InputHTMLAttributes } from "preact";
import { useState } from "preact/hooks";
import type { SchedulerStatus } from "../../../../streams/status/wire.ts";
import { counted } from "../../../foundation/contracts/format.ts";
import { pausedWords, pauseWords } from "../../views/pause-text.ts";
import { post } from "../live/api.ts";
import { announce } from "../live/toasts.ts";
import { Action } from "./action.tsx";
import { Dialog, useDialog } from "./dialog.tsx";
import { Icon } from "./icon.tsx";
import { Time } from "./time.tsx";

const resume = async (): Promise<void> => {
  const answer = await post("/control/resume");
  if (answer !== null) announce("Scheduler resumed");
};

/** How much is stopped: each level has those before. */
const levels = ["schedules", "work", "everything"] as const;
type Level = (typeof levels)[number];

/** The button that pauses the scheduler, or resumes it; a note of the pause, with the way to pause more; their dialog. */
export function usePause(now: SchedulerStatus) {
  const { paused, pausedWork, pausedAt } = now;
  const dialog = useDialog();
  const [chosen, setChosen] = useState<Level>("schedules");
  const ask = (level: Level): void => {
    setChosen(level);
    dialog.open();
  };
  const word = paused ? "Resume" : "Pause";
  const next = pausedWork ? "everything" : paused ? "work" : "schedules";
  return {
    ask,
    resume: paused ? resume : null,
    button: (
      <Action
        id="pause"
        label={`${word} the scheduler`}
        act={paused ? resume : () => ask("schedules")}
      >
        <Icon name={paused ? "run" : "disable"} /> {paused ? word : "Pause …"}
      </Action>
    ),
    // Not a live region: its time ticks.
    notice: (
      <p class="notice warning" id="paused" hidden={!paused}>
        {paused && (
          <>
            {pausedWords(now)}
            {pausedAt !== null && [" ", <Time at={pausedAt} key="time" />]}.{" "}
            {pauseWords(pausedWork)[1]}{" "}
            <button class="link" type="button" onClick={() => ask(next)}>
              {pausedWork ? "Kill running runs …" : "Stop more …"}
            </button>
          </>
        )}
      </p>
    ),
    dialog: <PauseDialog now={now} chosen={chosen} choose={setChosen} {...dialog} />,
  };
}

interface PauseDialogProps extends Omit<ReturnType<typeof useDialog>, "open"> {
  readonly now: SchedulerStatus;
  readonly chosen: Level;
  readonly choose: (level: Level) => void;
}

/** Asks how much to stop; the button names the number of runs that it kills. */
function PauseDialog({ now, chosen, choose, isOpen, onClose }: PauseDialogProps) {
  const { paused, pausedWork, running } = now;
  const runs = counted(running, "running run");
  const isOff = (level: Level) =>
    (paused && level === "schedules") || (pausedWork && level === "work");
  const level = isOff(chosen) ? (levels.find((one) => !isOff(one)) ?? chosen) : chosen;
  const isOfWork = level !== "schedules";
  const isKilling = level === "everything" && running > 0;
  const verb = level === "everything" ? "Stop everything" : "Pause";
  const killing = pausedWork ? `Kill ${runs}` : `${verb} and kill ${runs}`;
  const texts: Readonly<Record<Level, readonly [title: string, effect: string]>> = {
    schedules: [`${pauseWords(false)[0]} only`, pauseWords(false)[1]],
    work: pauseWords(true),
    everything: [
      "Stop everything",
      `All new work, and ${runs} ${running === 1 ? "ends" : "end"} now, without a retry.`,
    ],
  };
  const act = async (): Promise<void> => {
    if (!pausedWork && (await post("/control/pause", { work: isOfWork })) === null) return;
    if (isKilling && (await post("/control/kill")) === null) return;
    announce(`${pauseWords(isOfWork)[0]} paused${isKilling ? `, ${runs} killed` : ""}`);
  };
  return (
    <Dialog
      id="pause-dialog"
      isOpen={isOpen}
      onClose={onClose}
      title="Pause the scheduler"
      confirm={isKilling ? killing : verb}
      isConfirmDisabled={pausedWork && !isKilling}
      onConfirm={() => void act()}
    >
      {isOpen && (
        <div role="group" aria-label="What to pause">
          {levels.map((one) => (
            <Option
              key={one}
              type="radio"
              name="level"
              title={texts[one][0]}
              effect={texts[one][1]}
              checked={level === one}
              disabled={isOff(one)}
              onChange={() => choose(one)}
            />
          ))}
        </div>
      )}
    </Dialog>
  );
}

type OptionProps = InputHTMLAttributes & { readonly title: string; readonly effect: string };

/** A radio button with its name and its effect. */
function Option({ title, effect, ...input }: OptionProps) {
  return (
    <label class="option">
      <input {...input} />
      <span>
        <strong>{title}</strong>
        <span class="sub">{effect}</span>
      </span>
    </label>
  );
}
