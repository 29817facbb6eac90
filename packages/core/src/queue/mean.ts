/** The mean of what was seen lately, 0 before anything was. */
export class Mean {
  value = 0
  #seen = false

  add(next: number): void {
    this.value = this.#seen ? this.value + (next - this.value) / 16 : next
    this.#seen = true
  }
}
