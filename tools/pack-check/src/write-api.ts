// Writes the public surface of every package to its api.md.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { publicPackages, root } from './packages.ts'
import { must } from './run.ts'
import { surfaceOf } from './surface.ts'

await must('the build', process.execPath, ['scripts/build.ts'], { cwd: root })
for (const item of publicPackages()) writeFileSync(join(item.folder, 'api.md'), surfaceOf(item))
