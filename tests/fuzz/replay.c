/* Runs a fuzz target over the files of a directory, without libFuzzer. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int run_file(const char *path)
{
    FILE *f = fopen(path, "rb");
    if (f == NULL)
        return 1;
    static uint8_t bytes[1 << 20];
    size_t n = fread(bytes, 1, sizeof(bytes), f);
    fclose(f);
    /* A copy of the exact size, so that AddressSanitizer sees a read past the end. */
    uint8_t *copy = malloc(n != 0 ? n : 1);
    if (copy == NULL)
        return 1;
    for (size_t i = 0; i < n; i++)
        copy[i] = bytes[i];
    int result = LLVMFuzzerTestOneInput(copy, n);
    free(copy);
    return result;
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: %s CORPUS\n", argv[0]);
        return 2;
    }
    DIR *dir = opendir(argv[1]);
    if (dir == NULL) {
        fprintf(stderr, "%s: cannot open\n", argv[1]);
        return 2;
    }
    size_t files = 0;
    for (struct dirent *e; (e = readdir(dir)) != NULL;) {
        char path[4096];
        if (e->d_name[0] == '.')
            continue;
        snprintf(path, sizeof(path), "%s/%s", argv[1], e->d_name);
        if (run_file(path) != 0) {
            fprintf(stderr, "%s: failed\n", path);
            return 1;
        }
        files++;
    }
    closedir(dir);
    printf("%zu inputs\n", files);
    return files == 0;
}
