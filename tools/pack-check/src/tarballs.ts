// Packs every built package into the folder `tarballs`, and prints the lines that install them.
import { clients, installLine } from './install-line.ts'
import { pack } from './pack.ts'
import { publicPackages, readManifest } from './packages.ts'

const packages = publicPackages()
const folder = await pack()
const manifests = packages.map((item) => readManifest(item.folder))
const lines = clients.map((client) => `${client}:\n${installLine(manifests, folder, client)}`)
console.log(`Packed ${packages.length} packages into ${folder}

In the folder of your application, the line of your client installs its package, and the command \`tokenlane\` with the
sandbox:

${lines.join('\n\n')}`)
