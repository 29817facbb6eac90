import { diagnose, type DoctorOptions } from '../doctor/doctor.ts'
import { reportText } from '../doctor/report.ts'
import { exitStatus } from '../exit-status.ts'
import { output, print } from '../print.ts'

export async function doctor(options: DoctorOptions & { readonly json?: boolean }): Promise<number> {
  const diagnosis = await diagnose(options)
  print(options.json ? JSON.stringify(diagnosis) : reportText(diagnosis, output))
  return diagnosis.ok ? exitStatus.fine : exitStatus.findings
}
