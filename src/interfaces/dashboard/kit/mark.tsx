/** The program's mark, beside its name. */
export function Mark() {
  return (
    <svg class="mark" viewBox="0 0 32 32" aria-hidden="true">
      <rect width="32" height="32" rx="8" />
      <path d="M8 23 16 8l8 15" />
      <circle cx="16" cy="20" r="2.5" />
    </svg>
  );
}

export const calmIcon = icon("#3b5bdb", '<circle cx="16" cy="20" r="2.5" fill="#ffd43b"/>');
/** Shown while an alert is open or could not be delivered: another colour and shape. */
export const alertIcon = icon(
  "#c22f2f",
  '<circle cx="25" cy="7" r="7" fill="#fff"/><circle cx="25" cy="7" r="5" fill="#ffd43b"/>',
);

function icon(color: string, dot: string): string {
  const svg =
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="8" fill="${color}"/>` +
    '<path d="M8 23 16 8l8 15" fill="none" stroke="#fff" stroke-width="3" stroke-linecap="round" stroke-linejoin="round"/>' +
    `${dot}</svg>`;
  return `data:image/svg+xml,${encodeURIComponent(svg)}`;
}
