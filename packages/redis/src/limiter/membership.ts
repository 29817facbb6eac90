import type { BudgetResponse, BudgetRequest } from './protocol.ts'

/** One process among those that share a budget: its name, and what it must remember of the last response. */
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

  /** The number of this process in the fleet, 0 before Redis has given it one. */
  get member(): number {
    return this.#member
  }

  /** Redis' clock less that of this process, in milliseconds. */
  get offset(): number {
    return this.#offset
  }

  /** Returns what the next request says of its sender. */
  introduce(): Pick<BudgetRequest, 'process' | 'number' | 'epoch' | 'turn' | 'member'> {
    this.#number += 1
    return {
      process: this.#name,
      number: this.#number,
      epoch: this.#epoch,
      turn: this.#turn,
      member: this.#member,
    }
  }

  update({ epoch, turn, member, now: redisNow }: BudgetResponse, now: number): void {
    this.#epoch = epoch
    this.#turn = turn
    this.#member = member
    this.#offset = redisNow - now
  }
}
