import { finding, type Finding } from '../doctor/finding.ts'
import type { Facts } from '../facts/facts.ts'

/** Finds packages of the suite that use another copy of core, or have another version than core. */
export function checkPackages({ packages }: Facts): Finding[] {
  const own = packages.find(({ name }) => name === '@tokenlane/core')
  if (own === undefined) return []
  const others = packages.filter(({ core }) => core !== own.core)
  if (others.length > 0)
    return [
      finding('core-copies', 'warning', '@tokenlane/core', {
        seen: `${others.map(({ name }) => name).join(', ')} and the application use different copies of @tokenlane/core.`,
        why: "One copy may not recognize the other's errors and options.",
        fix: 'Install the same version of all @tokenlane packages and run `npm dedupe`.',
      }),
    ]
  const older = packages.filter(({ version }) => version !== own.version)
  if (older.length === 0) return []
  return [
    finding('packages-differ', 'info', '@tokenlane/core', {
      seen: `@tokenlane/core is ${own.version}; ${older.map(({ name, version }) => `${name} is ${version}`).join(', ')}.`,
      why: 'Only packages of the same release are tested together.',
      fix: 'Update all @tokenlane packages to the same release.',
    }),
  ]
}
