/* What reading takes: read judgments and a run, hash topic and document of each line, match them. Nothing is measured.

   usage: scan QRELS RUN...    prints the lines matched, and the milliseconds it took */

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static char *contents(const char *path, size_t *size) {
    FILE *file = fopen(path, "rb");
    if (!file) {
        perror(path);
        exit(1);
    }
    fseek(file, 0, SEEK_END);
    *size = (size_t)ftell(file);
    rewind(file);
    char *data = malloc(*size + 1);
    if (!data || fread(data, 1, *size, file) != *size) exit(1);
    data[*size] = 0;
    fclose(file);
    return data;
}

static uint64_t hashed(const char *from, const char *to, uint64_t hash) {
    for (; from < to; from++) hash = (hash ^ (unsigned char)*from) * 1099511628211u;
    return hash ^ (hash >> 29);
}

/* The key of the line that begins here: fields 0 and 2; `at` moves to the next line. */
static uint64_t key_of(const char **at, const char *end) {
    uint64_t hash = 1469598103934665603u;
    for (int field = 0; *at < end && **at != '\n'; field++) {
        const char *start = *at;
        while (*at < end && **at != ' ' && **at != '\t' && **at != '\n') (*at)++;
        if (field == 0 || field == 2) hash = hashed(start, *at, hash);
        while (*at < end && (**at == ' ' || **at == '\t')) (*at)++;
    }
    (*at)++;
    return hash ? hash : 1;
}

int main(int count, char **names) {
    if (count < 3) return 2;
    struct timespec start, stop;
    clock_gettime(CLOCK_MONOTONIC, &start);
    size_t size, lines = 0, matched = 0, slots = 1024;
    char *data = contents(names[1], &size);
    for (size_t byte = 0; byte < size; byte++) lines += data[byte] == '\n';
    while (slots < 4 * lines) slots *= 2;
    uint64_t *table = calloc(slots, sizeof *table);
    for (const char *at = data; at < data + size;) {
        uint64_t key = key_of(&at, data + size);
        size_t slot = key & (slots - 1);
        while (table[slot] && table[slot] != key) slot = (slot + 1) & (slots - 1);
        table[slot] = key;
    }
    free(data);
    for (int run = 2; run < count; run++) {
        data = contents(names[run], &size);
        for (const char *at = data; at < data + size;) {
            uint64_t key = key_of(&at, data + size);
            size_t slot = key & (slots - 1);
            while (table[slot] && table[slot] != key) slot = (slot + 1) & (slots - 1);
            matched += table[slot] == key;
        }
        free(data);
    }
    clock_gettime(CLOCK_MONOTONIC, &stop);
    printf("%zu %.3f\n", matched, (stop.tv_sec - start.tv_sec) * 1e3 + (stop.tv_nsec - start.tv_nsec) / 1e6);
    return 0;
}
