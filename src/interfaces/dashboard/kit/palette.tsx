import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { useAgents } from "../live/agents.ts";
import { publicPath } from "../text/base-path.ts";
import type { useDialog } from "./dialog.tsx";
import { Icon } from "./icon.tsx";
import { matchesOf, placesOf, type Place, type PlaceSources } from "./places.ts";

interface PaletteProps extends ReturnType<typeof useDialog>, Omit<PlaceSources, "agents"> {
  readonly agentNames: readonly string[];
}

/** The list of agents, runs, pages and actions, which Ctrl+K opens on every page; its field filters it. */
export function Palette({ isOpen, open, onClose, ...sources }: PaletteProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  useLayoutEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (event.key.toLowerCase() !== "k" || !(event.ctrlKey || event.metaKey) || event.altKey)
        return;
      event.preventDefault();
      if (dialog.current?.open === true) dialog.current.close();
      else if (document.querySelector("dialog[open]") === null) open();
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, []);
  useLayoutEffect(() => {
    if (isOpen) dialog.current?.showModal();
  }, [isOpen]);
  return (
    <dialog
      ref={dialog}
      id="palette"
      aria-label="Jump to"
      onClose={onClose}
      onClick={({ target }) => target === dialog.current && dialog.current?.close()}
    >
      {isOpen && <Choice {...sources} close={() => dialog.current?.close()} />}
    </dialog>
  );
}

type ChoiceProps = Omit<PaletteProps, keyof ReturnType<typeof useDialog>> & {
  readonly close: () => void;
};

function Choice({ agentNames, close, ...sources }: ChoiceProps) {
  const [query, setQuery] = useState("");
  const [at, setAt] = useState(0);
  const agents = useAgents() ?? agentNames.map((name) => ({ name }));
  const shown = matchesOf(placesOf({ ...sources, agents }, query), query);
  const go = (place: Place | undefined): void => {
    if (place === undefined) return;
    // The focus is back on the page before the action asks for it.
    close();
    if (place.href === undefined) place.act();
    else location.assign(publicPath(place.href));
  };
  const steps: Readonly<Partial<Record<string, number>>> = { ArrowDown: 1, ArrowUp: -1 };
  const onKeyDown = (event: KeyboardEvent): void => {
    const step = steps[event.key];
    if (event.key === "Enter") go(shown[at]);
    else if (step !== undefined) setAt((at + step + shown.length) % Math.max(1, shown.length));
    else return;
    event.preventDefault();
  };
  return (
    <>
      <input
        type="text"
        role="combobox"
        aria-label="Jump to an agent, a run or a page, or run an action"
        aria-expanded="true"
        aria-controls="palette-list"
        aria-activedescendant={shown.length === 0 ? undefined : `place-${at}`}
        aria-autocomplete="list"
        autocomplete="off"
        spellcheck={false}
        placeholder="Agent, run, page or action"
        value={query}
        onInput={({ currentTarget }) => {
          setQuery(currentTarget.value);
          setAt(0);
        }}
        onKeyDown={onKeyDown}
      />
      <ul id="palette-list" role="listbox" aria-label="Places and actions">
        {shown.map((place, index) => (
          <li
            key={place.words}
            id={`place-${index}`}
            role="option"
            aria-selected={index === at ? "true" : "false"}
            ref={(item) => {
              if (index === at) item?.scrollIntoView({ block: "nearest" });
            }}
            onClick={() => go(place)}
            onPointerMove={() => setAt(index)}
          >
            {place.icon === undefined ? (
              <span class={`dot ${place.tone ?? ""}`} />
            ) : (
              <Icon name={place.icon} />
            )}
            <span class="place">{place.words}</span>
            <span class="muted">{place.hint}</span>
          </li>
        ))}
      </ul>
    </>
  );
}
