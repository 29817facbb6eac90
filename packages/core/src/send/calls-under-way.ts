/** Whether a manager is open, and how many calls are under way, so that closing can wait for them. */
export class Gate {
  closed = false
  #underWay = 0
  #lastLeft: (() => void) | undefined

  entered(): void {
    this.#underWay += 1
  }

  left(): void {
    this.#underWay -= 1
    if (this.#underWay === 0) this.#lastLeft?.()
  }

  async close(): Promise<void> {
    this.closed = true
    if (this.#underWay === 0) return
    await new Promise<void>((resolve) => {
      const before = this.#lastLeft
      this.#lastLeft = () => {
        before?.()
        resolve()
      }
    })
  }
}
