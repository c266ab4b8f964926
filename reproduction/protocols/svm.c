/* C-SVM on a kernel matrix by sequential minimal optimization, one against one, for many parts of one training set.
   Working sets, stopping rule, offset and votes are those of libsvm; each part starts from the solution of the whole training
   set, less the graphs that are held out. Only maxima are taken in another order, so that bits do not depend on the processor. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BARRED 1e30
#define TINY 1e-12f
#define BLOCK 128
#define ROUNDING 1e-9 /* of C: values nearer to a bound are on it */

typedef struct {
    const float *K; /* m rows of `stride`; the first m entries of a row are the kernel */
    long stride;
    int m;
    double *y, *cap, *alpha, *v; /* v = y less the sum of alpha y K */
    double *up, *low;            /* 0 where alpha y may rise or fall, else barred */
    float *gain, *diagonal;
} Problem;

static void free_to_move(Problem *p, int i) {
    int rise = p->alpha[i] < p->cap[i], fall = p->alpha[i] > 0;
    p->up[i] = (p->y[i] > 0 ? rise : fall) ? 0 : -BARRED;
    p->low[i] = (p->y[i] > 0 ? fall : rise) ? 0 : BARRED;
}

/* Subtract delta times a row, or a difference of two rows, and return the graph that gains most from a rise; -1: none can. */
static int move(Problem *p, const float *row, const float *other, double delta, double *value) {
    double *restrict v = p->v, best = -BARRED / 2;
    const double *restrict up = p->up;
    int block = -1;
    for (int start = 0; start < p->m; start += BLOCK) {
        int stop = start + BLOCK < p->m ? start + BLOCK : p->m;
        double top = -BARRED;
        for (int k = start; k < stop; k++) {
            if (row) v[k] -= delta * ((double)row[k] - (other ? other[k] : 0));
            top = v[k] + up[k] > top ? v[k] + up[k] : top;
        }
        if (top > best) best = top, block = start;
    }
    *value = best;
    if (block >= 0)
        while (v[block] + up[block] != best) block++;
    return block;
}

/* Solve from where it is; returns the number of iterations. */
static int solve(Problem *p, double eps, int max_iter) {
    int n_iter = 0;
    float *restrict gain = p->gain;
    const double *restrict v = p->v, *restrict low = p->low;
    double high;
    for (int k = 0; k < p->m; k++) free_to_move(p, k);
    int i = move(p, NULL, NULL, 0, &high);
    for (; n_iter < max_iter && i >= 0; n_iter++) {
        const float *restrict row = p->K + i * p->stride, *restrict diagonal = p->diagonal;
        float own = diagonal[i], best = 0;
        double bottom = BARRED / 2;
        int j = -1;
        for (int start = 0; start < p->m; start += BLOCK) {
            int stop = start + BLOCK < p->m ? start + BLOCK : p->m;
            float top = 0;
            for (int k = start; k < stop; k++) {
                double w = v[k] + low[k];
                bottom = w < bottom ? w : bottom;
                float d = (float)(high - w), a = own + diagonal[k] - 2 * row[k];
                d = d > 0 ? d : 0;
                a = a > TINY ? a : TINY;
                gain[k] = d * d / a;
                top = gain[k] > top ? gain[k] : top;
            }
            if (top > best) best = top, j = start;
        }
        if (high - bottom < eps || j < 0) break;
        while (gain[j] != best) j++;
        double a = (double)own + diagonal[j] - 2.0 * row[j], step = (high - v[j]) / (a > TINY ? a : TINY);
        double room_i = p->y[i] > 0 ? p->cap[i] - p->alpha[i] : p->alpha[i];
        double room_j = p->y[j] > 0 ? p->alpha[j] : p->cap[j] - p->alpha[j];
        double room = room_i < room_j ? room_i : room_j;
        if (step > room) step = room;
        p->alpha[i] = step == room_i ? (p->y[i] > 0 ? p->cap[i] : 0) : p->alpha[i] + p->y[i] * step;
        p->alpha[j] = step == room_j ? (p->y[j] > 0 ? 0 : p->cap[j]) : p->alpha[j] - p->y[j] * step;
        free_to_move(p, i);
        free_to_move(p, j);
        i = move(p, row, p->K + j * p->stride, step, &high);
    }
    return n_iter;
}

/* Take the graphs out whose cap has become 0, and restore sum alpha y = 0 at the places that gain most from it. */
static void take_out(Problem *p) {
    double sum = 0, value;
    for (int k = 0; k < p->m; k++) {
        if (p->cap[k] == 0 && p->alpha[k] > 0) {
            move(p, p->K + k * p->stride, NULL, -p->alpha[k] * p->y[k], &value);
            p->alpha[k] = 0;
        }
        sum += p->alpha[k] * p->y[k];
    }
    double sign = sum > 0 ? -1 : 1, slack = 0; /* alpha y has to fall, or to rise */
    for (int k = 0; k < p->m; k++) slack = p->cap[k] > 0 ? ROUNDING * p->cap[k] : slack;
    for (sum = fabs(sum); sum > slack;) {
        int i = -1;
        for (int k = 0; k < p->m; k++) {
            free_to_move(p, k);
            if ((sign > 0 ? p->up[k] : p->low[k]) == 0 && (i < 0 || sign * (p->v[k] - p->v[i]) > 0)) i = k;
        }
        if (i < 0) break;
        int is_rise = p->y[i] == sign;
        double room = is_rise ? p->cap[i] - p->alpha[i] : p->alpha[i], step = sum < room - slack ? sum : room;
        p->alpha[i] = step == room ? (is_rise ? p->cap[i] : 0) : p->alpha[i] + sign * p->y[i] * step;
        move(p, p->K + i * p->stride, NULL, sign * step, &value);
        sum -= step;
    }
}

static double offset(const Problem *p) {
    double sum = 0, low = -BARRED, high = BARRED;
    int n = 0;
    for (int k = 0; k < p->m; k++) {
        if (p->cap[k] == 0) continue;
        double v = p->v[k];
        if (p->alpha[k] > 0 && p->alpha[k] < p->cap[k]) sum += v, n++;
        else if (p->up[k] == 0) low = v > low ? v : low;
        else high = v < high ? v : high;
    }
    if (n) return sum / n;
    if (low <= -BARRED / 2 || high >= BARRED / 2) return low <= -BARRED / 2 ? (high >= BARRED / 2 ? 0 : high) : low;
    return (low + high) / 2;
}

/* Votes of a solved problem for the graphs `held`; a, b: its classes, b > a; place: of a graph in the problem, or -1. */
static void vote(const Problem *p, const float *K, int n, const int *held, int n_held, const int *place, const int *index, int a,
                 int b, int n_classes, int *votes) {
    double bias = offset(p);
    for (int h = 0; h < n_held; h++) {
        int g = held[h];
        double decision = bias;
        if (place[g] >= 0) decision += p->y[place[g]] - p->v[place[g]];
        else
            for (int k = 0; k < p->m; k++)
                if (p->alpha[k] > 0) decision += p->alpha[k] * p->y[k] * K[(long)g * n + index[k]];
        votes[h * n_classes + (decision > 0 ? a : b)]++;
    }
}

static int count_wrong(const int *votes, const int *held, int n_held, const int *classes, int n_classes) {
    int wrong = 0;
    for (int h = 0; h < n_held; h++) {
        int best = 0;
        for (int c = 1; c < n_classes; c++)
            if (votes[h * n_classes + c] > votes[h * n_classes + best]) best = c;
        wrong += best != classes[held[h]];
    }
    return wrong;
}

/* Learn from the graphs with part >= 0 at one C, and count the mistakes on those with part < 0 (wrong[n_parts]); then, for each
   part in [first, last), learn without it and count the mistakes on it (wrong[part]). bounded[...]: whether a value reached C.
   alpha, f: n_pairs x n, the solution of the training set, updated; is_solved: they are it already. Returns iterations, or -1. */
long evaluate(const float *K, int n, const int *classes, int n_classes, const int *part, int n_parts, int first, int last, double C,
              int is_solved, double *alpha, double *f, int *wrong, int *bounded, double eps, int max_iter) {
    int n_jobs = last - first + 1; /* the parts, and then the test graphs */
    int *held = malloc(sizeof(int) * n * n_jobs), *n_held = calloc(n_jobs, sizeof(int));
    int *votes = calloc((size_t)n * n_jobs * n_classes, sizeof(int)), *place = malloc(sizeof(int) * n), *index = malloc(sizeof(int) * n);
    double *numbers = malloc(sizeof(double) * n * 7);
    float *floats = malloc(sizeof(float) * n * 2), *local = n_classes > 2 ? malloc(sizeof(float) * n * (size_t)n) : NULL;
    long total = -1;
    if (!held || !n_held || !votes || !place || !index || !numbers || !floats || (n_classes > 2 && !local)) goto end;
    total = 0;
    for (int job = 0; job < n_jobs; job++) {
        int number = job == n_jobs - 1 ? -1 : first + job;
        for (int g = 0; g < n; g++)
            if (part[g] == number) held[(size_t)job * n + n_held[job]++] = g;
        bounded[job == n_jobs - 1 ? n_parts : first + job] = 0;
    }
    int pair = 0;
    for (int a = 0; a < n_classes; a++)
        for (int b = a + 1; b < n_classes; b++, pair++) {
            Problem p = {n_classes > 2 ? local : K, n, 0, numbers, numbers + n, numbers + 2 * n, numbers + 3 * n,
                         numbers + 4 * n, numbers + 5 * n, floats, floats + n};
            int here[2] = {0, 0};
            for (int g = 0; g < n; g++) {
                place[g] = -1;
                if (classes[g] != a && classes[g] != b) continue;
                place[g] = p.m;
                index[p.m] = g;
                p.y[p.m++] = classes[g] == a ? 1 : -1;
                if (part[g] >= 0) here[classes[g] == b]++;
            }
            double *own_alpha = alpha + (size_t)pair * n, *own_f = f + (size_t)pair * n;
            if (n_classes > 2) {
                p.stride = p.m;
                for (int k = 0; k < p.m; k++)
                    for (int l = 0; l < p.m; l++) local[(size_t)k * p.m + l] = K[(size_t)index[k] * n + index[l]];
            }
            for (int k = 0; k < p.m; k++) {
                p.diagonal[k] = p.K[k * p.stride + k];
                p.cap[k] = part[index[k]] >= 0 ? C : 0;
                p.alpha[k] = own_alpha[k];
                p.v[k] = p.y[k] - own_f[k];
            }
            if (!is_solved) {
                if (here[0] && here[1]) total += solve(&p, eps, max_iter);
                memcpy(own_alpha, p.alpha, sizeof(double) * p.m);
                for (int k = 0; k < p.m; k++) own_f[k] = p.y[k] - p.v[k];
                if (here[0] + here[1]) {
                    for (int k = 0; k < p.m; k++) free_to_move(&p, k);
                    int job = n_jobs - 1;
                    vote(&p, K, n, held + (size_t)job * n, n_held[job], place, index, a, b, n_classes, votes + (size_t)job * n * n_classes);
                }
                for (int k = 0; k < p.m; k++) bounded[n_parts] |= p.alpha[k] > 0 && p.alpha[k] >= C;
            }
            for (int job = 0; job < n_jobs - 1; job++) {
                int left[2] = {0, 0}, number = first + job;
                for (int k = 0; k < p.m; k++) {
                    int g = index[k], is_in = part[g] >= 0 && part[g] != number;
                    p.cap[k] = is_in ? C : 0;
                    left[classes[g] == b] += is_in;
                    p.alpha[k] = own_alpha[k];
                    p.v[k] = p.y[k] - own_f[k];
                }
                take_out(&p);
                if (left[0] && left[1]) total += solve(&p, eps, max_iter);
                else if (!left[0] && !left[1]) continue;
                vote(&p, K, n, held + (size_t)job * n, n_held[job], place, index, a, b, n_classes, votes + (size_t)job * n * n_classes);
                for (int k = 0; k < p.m; k++) bounded[number] |= p.alpha[k] > 0 && p.alpha[k] >= C;
            }
        }
    for (int job = 0; job < n_jobs; job++)
        if (job < n_jobs - 1 || !is_solved)
            wrong[job == n_jobs - 1 ? n_parts : first + job] =
                count_wrong(votes + (size_t)job * n * n_classes, held + (size_t)job * n, n_held[job], classes, n_classes);
end:
    free(held), free(n_held), free(votes), free(place), free(index), free(numbers), free(floats), free(local);
    return total;
}
