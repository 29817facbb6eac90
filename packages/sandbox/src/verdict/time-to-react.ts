/** How long after a response a client may still send requests that it had prepared before, in milliseconds. */
export const timeToReact = 500
