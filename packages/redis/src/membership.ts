import type { Answer, Message } from './protocol.ts'

/** One process among those that share a budget: its name, and what it must remember of what Redis said. */
export class Membership {
  readonly #name: string
  #number = 0
  #epoch = ''
  #turn = 0
  #member = 0
  #offset = 0

  constructor(name: string) {
    this.#name = name
  }

  /** The number of this process in the fleet, 0 if it has none. */
  get member(): number {
    return this.#member
  }

  /** Redis' clock less that of this process, in milliseconds. */
  get offset(): number {
    return this.#offset
  }

  /** Returns what the next message says of its sender. */
  introduce(): Pick<Message, 'process' | 'number' | 'epoch' | 'turn' | 'member'> {
    this.#number += 1
    return {
      process: this.#name,
      number: this.#number,
      epoch: this.#epoch,
      turn: this.#turn,
      member: this.#member,
    }
  }

  hear({ epoch, turn, member, now: redisNow }: Answer, now: number): void {
    this.#epoch = epoch
    this.#turn = turn
    this.#member = member
    this.#offset = redisNow - now
  }
}
