/** A map of limited size. When it is full, it drops the entry that was set longest ago. */
export class BoundedMap<Value> {
  readonly #values = new Map<string, Value>()
  readonly #capacity: number

  constructor(capacity: number) {
    this.#capacity = capacity
  }

  get(key: string): Value | undefined {
    return this.#values.get(key)
  }

  set(key: string, value: Value): void {
    this.#values.delete(key)
    this.#values.set(key, value)
    const [oldest] = this.#values.keys()
    if (this.#values.size > this.#capacity && oldest !== undefined) this.#values.delete(oldest)
  }

  delete(key: string): void {
    this.#values.delete(key)
  }

  deleteWhere(holds: (value: Value) => boolean): void {
    for (const [key, value] of this.#values) if (holds(value)) this.#values.delete(key)
  }

  values(): Value[] {
    return [...this.#values.values()]
  }
}
