/** The exit statuses of the command. They are stable across releases. */
export const exitStatus = {
  fine: 0,
  /** There are errors or warnings, or a token or a call failed. */
  findings: 1,
  usage: 2,
  /** The command found no application or could not load it, or the judged program made no calls. */
  couldNotLook: 3,
} as const

/** Thrown if the application is not found or cannot be loaded. The message says why and holds no secret. */
export class CannotLook extends Error {}

/** Thrown for an argument that proves wrong after the command line was parsed. The message names it. */
export class WrongUsage extends Error {}

/** @throws WrongUsage if `url` is not an absolute HTTP or HTTPS URL. */
export function mustBeAbsolute(url: string): void {
  if (!/^https?:$/.test(URL.parse(url)?.protocol ?? ''))
    throw new WrongUsage('Pass an absolute URL, such as https://api.example.com/records')
}
