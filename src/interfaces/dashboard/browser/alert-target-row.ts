import type {
  AlertTargetState,
  AlertTargetView,
  AlertTested,
} from "../../../foundation/contracts/alerts-report.ts";
import { onPress, post, showToast } from "./actions.ts";
import { create, createButton, setAttribute, setText } from "./dom.ts";
import type { View } from "./views.ts";

const pills: Readonly<Record<AlertTargetState, string>> = {
  ok: "good",
  failing: "held",
  off: "error",
};

/** Makes the rows of targets, each with a button that sends a test; `done` is called after it. */
export function createTargetRow(
  done: (words: string) => void,
): (first: AlertTargetView) => View<AlertTargetView> {
  return ({ name }) => {
    const type = create("div", "sub");
    const state = create("span");
    const waiting = create("td", "number");
    const dead = create("td", "number");
    const error = create("td", "why");
    const button = testButton(name, done);
    waiting.dataset.label = "Waiting";
    dead.dataset.label = "Dead";
    const element = create(
      "tr",
      "",
      create("td", "what", name, type),
      create("td", "", state),
      waiting,
      dead,
      error,
      create("td", "act", button),
    );
    return {
      elements: () => [element],
      show: (now) => {
        setText(type, now.type);
        setText(state, now.state);
        setAttribute(state, "class", `pill ${pills[now.state]}`);
        setText(waiting, String(now.waiting));
        setText(dead, String(now.dead));
        dead.classList.toggle("danger", now.dead > 0);
        setText(error, now.lastError ?? "");
      },
    };
  };
}

const words = "Send a test";
/** How long a button shows that its test was accepted. */
const acceptedMs = 4_000;

function testButton(name: string, done: (words: string) => void): HTMLElement {
  const button = createButton("button acts", words);
  button.setAttribute("aria-label", `Send a test to ${name}`);
  onPress(button, async () => {
    const answer = await post<AlertTested>(`/api/alerts/targets/${encodeURIComponent(name)}/test`);
    if (answer === null) return;
    if (!answer.accepted) showToast(`${name} did not accept the test: ${answer.error ?? ""}`);
    if (answer.accepted) {
      setText(button, "Accepted ✓");
      setTimeout(() => setText(button, words), acceptedMs);
    }
    done(answer.accepted ? `${name} accepted the test` : `${name} did not accept the test`);
  });
  return button;
}
