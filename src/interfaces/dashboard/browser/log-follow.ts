import { counted } from "../../../foundation/contracts/format.ts";
import { byId, setAttribute, setText } from "./dom.ts";
import { createFollow } from "./follow.ts";

/** The place of the reader in the log, with the buttons that show it: at the newest line, or elsewhere. */
export interface LogFollow {
  /** Lines came below the others. */
  added(count: number): void;
  /** Goes to the newest line, or stays where the reader is. */
  set(isOn: boolean): void;
  /** To be called after the content changed otherwise. */
  contentChanged(): void;
}

/** `isAtEnd`: the newest line is on the page. `toNewest` is called when a reader wants it who is elsewhere in the log. */
export function createLogFollow(
  box: HTMLElement,
  isAtEnd: () => boolean,
  toNewest: () => void,
): LogFollow {
  let missed = 0;
  const follow = createFollow(box, () => {
    if (follow.isOn()) missed = 0;
    show();
  });
  const isFollowing = (): boolean => follow.isOn() && isAtEnd();
  const show = (): void => {
    setAttribute(byId("follow"), "aria-pressed", String(isFollowing()));
    setText(byId("follow"), isFollowing() ? "Following" : "Follow");
    byId("jump").hidden = isFollowing();
    setText(byId("jump"), missed === 0 ? "Jump to the newest" : `${counted(missed, "new line")} ↓`);
  };
  const jump = (): void => (isAtEnd() ? follow.set(true) : toNewest());

  addEventListener("resize", () => follow.contentChanged());
  byId("follow").addEventListener("click", () => (isFollowing() ? follow.set(false) : jump()));
  byId("jump").addEventListener("click", jump);
  return {
    added: (count) => {
      follow.contentChanged();
      if (!follow.isOn()) missed += count;
      show();
    },
    set: (isOn) => {
      if (isOn) missed = 0;
      follow.set(isOn);
      show();
    },
    contentChanged: () => {
      follow.contentChanged();
      show();
    },
  };
}
