import type { InputHTMLAttributes } from "preact";
import { useState } from "preact/hooks";
import type { SchedulerStatus } from "../../../../streams/status/wire.ts";
import { counted } from "../../../foundation/contracts/format.ts";
import { pausedWords, pauseWords } from "../../views/pause-text.ts";
import { post } from "../live/api.ts";
import { announce } from "../live/toasts.ts";
import { Action } from "./action.tsx";
import { Dialog, useDialog } from "./dialog.tsx";
import { Time } from "./time.tsx";

const resume = async (): Promise<void> => {
  const answer = await post("/control/resume");
  if (answer !== null) announce("Scheduler resumed");
};

/** The button that pauses the scheduler, or resumes it; a note of the pause, with the way to pause more; their dialog. */
export function usePause(now: SchedulerStatus) {
  const { paused, pausedWork, pausedAt } = now;
  const dialog = useDialog();
  const word = paused ? "Resume" : "Pause";
  return {
    button: (
      <Action id="pause" label={`${word} the scheduler`} act={paused ? resume : dialog.open}>
        {paused ? word : "Pause …"}
      </Action>
    ),
    // Not a live region: its time ticks.
    notice: (
      <p class="notice warning" id="paused" hidden={!paused}>
        {paused && (
          <>
            {pausedWords(now)} {pausedAt !== null && <Time at={pausedAt} />}.{" "}
            {pauseWords(pausedWork)[1]}{" "}
            <button class="link" type="button" onClick={dialog.open}>
              {pausedWork ? "Kill running runs …" : "Stop more …"}
            </button>
          </>
        )}
      </p>
    ),
    dialog: <PauseDialog now={now} {...dialog} />,
  };
}

const killEffect = "They end now, without a retry.";

interface PauseDialogProps extends Omit<ReturnType<typeof useDialog>, "open"> {
  readonly now: SchedulerStatus;
}

/** Asks what to pause, and whether to kill the running runs. */
function PauseDialog({ now, isOpen, onClose }: PauseDialogProps) {
  const { paused, pausedWork, running } = now;
  const [chosen, setChosen] = useState<boolean | null>(null);
  const [kills, setKills] = useState(false);
  const isOfWork = chosen ?? paused;
  const runs = counted(running, "running run");
  const isKilling = running > 0 && (kills || pausedWork);
  const verb = verbOf(pausedWork, isKilling);
  const close = (): void => {
    setChosen(null);
    setKills(false);
    onClose();
  };
  const act = async (): Promise<void> => {
    const body = { work: isOfWork };
    if (!pausedWork && (await post("/control/pause", body)) === null) return;
    if (isKilling && (await post("/control/kill")) === null) return;
    announce(`${pauseWords(isOfWork)[0]} paused${isKilling ? `, ${runs} killed` : ""}`);
  };
  return (
    <Dialog
      id="pause-dialog"
      isOpen={isOpen}
      onClose={close}
      title={pausedWork ? `Kill ${runs}?` : "Pause the scheduler"}
      confirm={isKilling ? `${verb} ${runs}` : verb}
      isConfirmDisabled={pausedWork && !isKilling}
      onConfirm={() => void act()}
    >
      {pausedWork && <p>{killEffect}</p>}
      {isOpen && !pausedWork && (
        <div role="group" aria-label="What to pause">
          {[false, true].map((work) => (
            <Option
              key={work}
              type="radio"
              name="level"
              title={pauseWords(work)[0] + (work ? "" : " only")}
              effect={pauseWords(work)[1]}
              checked={isOfWork === work}
              disabled={paused && !work}
              onChange={() => setChosen(work)}
            />
          ))}
          {running > 0 && (
            <Option
              type="checkbox"
              title={`Also kill ${runs}`}
              effect={killEffect}
              checked={kills}
              onChange={() => setKills(!kills)}
            />
          )}
        </div>
      )}
    </Dialog>
  );
}

function verbOf(isPaused: boolean, isKilling: boolean): string {
  if (isPaused) return "Kill";
  return isKilling ? "Pause and kill" : "Pause";
}

type OptionProps = InputHTMLAttributes & { readonly title: string; readonly effect: string };

/** A radio button or checkbox with its name and its effect. */
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
