import type { InputHTMLAttributes } from "preact";
import { useState } from "preact/hooks";
import type { SchedulerStatus } from "../../../../streams/status/wire.ts";
import { counted } from "../../../foundation/contracts/format.ts";
import { pausedWords, pauseWords } from "../../views/pause-text.ts";
import { post } from "../live/api.ts";
import { announce } from "../live/toasts.ts";
import { Action } from "./action.tsx";
import { Dialog } from "./dialog.tsx";
import { Time } from "./time.tsx";

const resume = async (): Promise<void> => {
  const answer = await post("/control/resume");
  if (answer !== null) announce("Scheduler resumed");
};

/** Opens the dialog that pauses the scheduler and kills its runs; while it is paused, resumes it. */
export function PauseButton({ now, onOpen }: { now: SchedulerStatus; onOpen: () => void }) {
  const word = now.paused ? "Resume" : "Pause";
  return (
    <Action id="pause" label={`${word} the scheduler`} act={now.paused ? resume : onOpen}>
      {now.paused ? word : "Pause …"}
    </Action>
  );
}

/** A note of the pause on each page, with the way to pause more. Not a live region: its time ticks. */
export function PauseNotice({ now, onOpen }: { now: SchedulerStatus; onOpen: () => void }) {
  return (
    <p class="notice warning" id="paused" hidden={!now.paused}>
      {now.paused && (
        <>
          {pausedWords(now)} {now.pausedAt !== null && <Time at={now.pausedAt} />}.{" "}
          {pauseWords(now.pausedWork)[1]}{" "}
          <button class="link" type="button" onClick={onOpen}>
            {now.pausedWork ? "Kill running runs …" : "Stop more …"}
          </button>
        </>
      )}
    </p>
  );
}

const killEffect = "They end now, without a retry.";

interface PauseDialogProps {
  readonly now: SchedulerStatus;
  readonly isOpen: boolean;
  readonly onClose: () => void;
}

/** Asks what to pause, and whether to kill the running runs. */
export function PauseDialog({ now, isOpen, onClose }: PauseDialogProps) {
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
