import { byId, remember, remembered, setAttribute } from "./dom.ts";

/** A button that is on or off; what it is stays with the reader. */
export function wireToggle(id: string, isOnAtFirst: boolean, apply: (isOn: boolean) => void): void {
  const button = byId(id);
  const show = (isOn: boolean): void => {
    setAttribute(button, "aria-pressed", String(isOn));
    apply(isOn);
  };
  button.addEventListener("click", () => {
    const isOn = button.getAttribute("aria-pressed") !== "true";
    remember(`log-${id}`, String(isOn));
    show(isOn);
  });
  show((remembered(`log-${id}`) ?? String(isOnAtFirst)) === "true");
}
