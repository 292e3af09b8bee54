export function showFileView() {}
