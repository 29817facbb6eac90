// Packs every built package into the folder `tarballs`, and prints the line that installs them.
import { installLine } from './install-line.ts'
import { pack } from './pack.ts'
import { publicPackages, readManifest } from './packages.ts'

const packages = publicPackages()
const folder = await pack()
console.log(`Packed ${packages.length} packages into ${folder}

In the folder of your application, this installs the package for axios, and the command \`tokenlane\` with the sandbox.
For another client, replace axios and its tarball in this line, and keep the others:

${installLine(
  packages.map((item) => readManifest(item.folder)),
  folder,
)}`)
