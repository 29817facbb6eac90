import {
  nextVersion,
  openNextSuite,
  openSuite,
  playAll,
  type Player,
  type Unplayed,
  unplayedInNext,
  unplayedInWorkerd,
  workerdVersion,
} from '@tokenlane/edge-check'

import type { Project } from './project.ts'
import type { Row } from './runtime-rows.ts'

/** A runtime without vitest: a worker plays the scenarios, with fetch. */
export interface EdgeRuntime {
  readonly id: string
  readonly name: string
  readonly unplayed: readonly Unplayed[]
  readonly open: (project: Project) => Promise<Player>
}

export const edgeRuntimes: readonly EdgeRuntime[] = [
  {
    id: 'workerd',
    name: `workerd ${workerdVersion}`,
    unplayed: unplayedInWorkerd,
    open: ({ folder }) => openSuite(folder),
  },
  {
    id: 'Next.js',
    name: `Next.js ${nextVersion}, edge`,
    unplayed: unplayedInNext,
    open: openNextSuite,
  },
]

/** Plays the suite with the packed packages. */
export async function edgeRow({ id, name, unplayed, open }: EdgeRuntime, project: Project): Promise<Row> {
  await using player = await open(project)
  const { held, differences, failures } = await playAll(player, unplayed)
  return {
    id,
    runtime: name,
    cells: { 'conformance suite': `${held}: fetch` },
    differences,
    trouble: failures,
  }
}
