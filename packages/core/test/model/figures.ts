import type { TokenlaneEvent } from '../../src/index.ts'

/** What happened in all sequences together. */
class Figures {
  sequences = 0
  commands = 0
  calls = 0
  /** Attempts that went out to an API. */
  sends = 0
  /** Token requests. */
  requests = 0
  /** Calls that failed for want of a token, each while its issuer gave none. */
  lost = 0
  readonly #events = new Map<TokenlaneEvent['type'], number>()

  count(type: TokenlaneEvent['type']): void {
    this.#events.set(type, (this.#events.get(type) ?? 0) + 1)
  }

  toString(): string {
    const { sequences, commands, calls, sends, requests, lost } = this
    const of = (type: TokenlaneEvent['type']): number => this.#events.get(type) ?? 0
    return [
      `${sequences} sequences of ${commands} commands: ${calls} calls, ${sends} sends, ${requests} token requests`,
      `(${of('token.renewed')} renewals, ${of('renewal.failed')} failures, ${of('token.rejected')} tokens rejected,`,
      `${of('credentials.rotated')} rotations); ${lost} calls lost to an issuer that gave no token`,
    ].join(' ')
  }
}

export const figures: Figures = new Figures()
