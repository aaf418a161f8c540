/** Lines of the icons, in a square of 24. */
const paths = {
  agents: "M4 4h7v7H4zM13 4h7v7h-7zM4 13h7v7H4zM13 13h7v7h-7z",
  triggers: "M13 3 5 14h6l-1 7 9-12h-6z",
  search: "M11 4a7 7 0 1 0 0 14 7 7 0 0 0 0-14zM16 16l4 4",
  cost: "M12 3v18M17 8c0-4-10-4-10 0s10 4 10 8-10 4-10 0",
  questions: "M4 5h16v11h-8l-4 4v-4H4z",
  alerts: "M6 17v-6a6 6 0 0 1 12 0v6l2 1H4zM10 21h4",
  audit: "M9 6h11M9 12h11M9 18h11M4 6h.1M4 12h.1M4 18h.1",
  tokens: "M8 11a4 4 0 1 0 0 8 4 4 0 0 0 0-8zM11 12l8-8M16 7l3 3",
  help: "M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18zM9 10a3 3 0 1 1 4 2.5l-1 1.5M12 17h.1",
  run: "M8 5l11 7-11 7z",
  disable: "M8 5v14M16 5v14",
  enable: "M12 4v8M7 7a7 7 0 1 0 10 0",
  more: "M5 12h.1M12 12h.1M19 12h.1",
} as const;
export type IconName = keyof typeof paths;

/** A picture beside a name that says the same. */
export function Icon({ name }: { readonly name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 24 24" aria-hidden="true">
      <path d={paths[name]} />
    </svg>
  );
}
