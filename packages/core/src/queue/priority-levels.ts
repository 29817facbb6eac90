// the build puts this class into core's own file: loading the package takes a fifth of core's import
import { PriorityQueue } from 'p-queue'

/** The calls of one priority, in order. */
export class Level {
  readonly priority: number
  /** The queue of p-queue. It calls nothing that it holds here, though its types say that it could. */
  readonly places: PriorityQueue = new PriorityQueue()
  /** Random, and highest at the root of every subtree: that keeps the tree balanced. */
  readonly weight: number = Math.random()
  higher: Level | undefined
  lower: Level | undefined
  /** Calls that wait at this priority, and in the whole subtree. */
  calls = 0
  total = 0

  constructor(priority: number) {
    this.priority = priority
  }
}

/**
 * The priorities of the calls that wait, as a balanced tree (a treap): to join, to leave and to count what is ahead take
 * O(log n) of n priorities. p-queue alone would move half of its queue for each call that joins among several priorities.
 */
export class PriorityLevels {
  #root: Level | undefined

  /** Calls that wait. */
  get total(): number {
    return this.#root?.total ?? 0
  }

  /** The level of the highest priority. */
  get highest(): Level | undefined {
    let level = this.#root
    while (level?.higher !== undefined) level = level.higher
    return level
  }

  /** Returns the level of this priority, a new one if there is none. */
  of(priority: number): Level {
    for (let level = this.#root; level !== undefined; level = below(level, priority))
      if (level.priority === priority) return level
    const added = new Level(priority)
    this.#root = insert(this.#root, added)
    return added
  }

  /** Counts a call that joins (1) or leaves (-1) the level of this priority. */
  count(priority: number, change: 1 | -1): void {
    let level = this.#root
    for (; level !== undefined && level.priority !== priority; level = below(level, priority))
      level.total += change
    if (level === undefined) return
    level.total += change
    level.calls += change
  }

  /** Returns how many calls wait at this priority or a higher one. */
  countFrom(priority: number): number {
    let calls = 0
    for (let level = this.#root; level !== undefined; level = below(level, priority)) {
      if (level.priority < priority) continue
      calls += level.calls + (level.higher?.total ?? 0)
      if (level.priority === priority) break
    }
    return calls
  }

  /** Takes off the level of the highest priority, where no call waits any more. */
  dropHighest(): void {
    let parent: Level | undefined
    let level = this.#root
    for (; level?.higher !== undefined; level = level.higher) parent = level
    if (parent === undefined) this.#root = level?.lower
    else parent.higher = level?.lower
  }
}

function below(level: Level, priority: number): Level | undefined {
  return priority > level.priority ? level.higher : level.lower
}

function insert(root: Level | undefined, added: Level): Level {
  if (root === undefined) return added
  if (added.weight < root.weight) {
    if (added.priority > root.priority) root.higher = insert(root.higher, added)
    else root.lower = insert(root.lower, added)
    return root
  }
  ;[added.higher, added.lower] = split(root, added.priority)
  return recounted(added)
}

/** Cuts a tree into the levels above and below a priority that it does not have. */
function split(root: Level | undefined, priority: number): [Level | undefined, Level | undefined] {
  if (root === undefined) return [undefined, undefined]
  if (root.priority > priority) {
    const [higher, lower] = split(root.lower, priority)
    root.lower = higher
    return [recounted(root), lower]
  }
  const [higher, lower] = split(root.higher, priority)
  root.higher = lower
  return [higher, recounted(root)]
}

function recounted(level: Level): Level {
  level.total = level.calls + (level.higher?.total ?? 0) + (level.lower?.total ?? 0)
  return level
}
