/** The longest side of an image that models read without scaling it down themselves, in pixels. */
const LONGEST = 1568;
const KINDS = ['image/jpeg', 'image/png', 'image/webp'];

/**
 * Scales an image down and encodes it again, without the place and time that cameras add. A file that is no such image,
 * or that the browser cannot read, stays as it is.
 */
export async function smallImage(file: File): Promise<File> {
  if (!KINDS.includes(file.type)) return file;
  try {
    const bitmap = await createImageBitmap(file);
    const scale = Math.min(1, LONGEST / Math.max(bitmap.width, bitmap.height));
    const canvas = document.createElement('canvas');
    canvas.width = Math.max(1, Math.round(bitmap.width * scale));
    canvas.height = Math.max(1, Math.round(bitmap.height * scale));
    canvas.getContext('2d')?.drawImage(bitmap, 0, 0, canvas.width, canvas.height);
    bitmap.close();
    const blob = await new Promise<Blob | null>((done) => canvas.toBlob(done, file.type, 0.85));
    return blob ? new File([blob], file.name, { type: blob.type }) : file;
  } catch {
    return file;
  }
}
