/** Keeps a scrolled box at its newest line until the reader scrolls up; at the bottom it follows again. */
export interface Follow {
  readonly isOn: () => boolean;
  /** Follows from now on, or stays where it is. */
  set(isOn: boolean): void;
  /** To be called after the content changed. */
  contentChanged(): void;
}

const bottomPx = 8;

/** `onChange` is called each time that following begins or stops. */
export function createFollow(box: HTMLElement, onChange: (isOn: boolean) => void): Follow {
  let isOn = true;
  let lastTop = 0;
  const toBottom = (): void => {
    box.scrollTop = box.scrollHeight;
    lastTop = box.scrollTop;
  };
  const set = (wanted: boolean): void => {
    if (wanted) toBottom();
    if (wanted === isOn) return;
    isOn = wanted;
    onChange(isOn);
  };
  box.addEventListener("scroll", () => {
    const isAtBottom = box.scrollHeight - box.clientHeight - box.scrollTop <= bottomPx;
    // Content that grows between a scroll and its event leaves the bottom too: only going up is the reader's.
    if (isAtBottom) set(true);
    else if (box.scrollTop < lastTop) set(false);
    lastTop = box.scrollTop;
  });
  return {
    isOn: () => isOn,
    set,
    contentChanged() {
      if (isOn) toBottom();
      else lastTop = box.scrollTop;
    },
  };
}
