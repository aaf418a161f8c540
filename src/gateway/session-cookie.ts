/** Name of the browser's session cookie. */
export const sessionCookie = "al_session";
