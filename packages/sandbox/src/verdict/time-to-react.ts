/** How long after a response a client may still send what it had decided to send before, in milliseconds. */
export const timeToReact = 500
