/* SPDX-License-Identifier: MIT */
/* consumer.c - a program of somebody else: finds <qkv/qkv.h>, links libqkv, gets the lesson's row.
 *
 * Uses the plan, a pool and the error text, so that every part of the library is linked. */
#include <qkv/qkv.h>
#include <stdio.h>

int main(void)
{
    const float q[2] = {1, 2}, k[8] = {1, 0, 0, 2, 2, 0, 1, 1}, v[8] = {1, 0, 3, 0, 0, 2, 0, 1};
    float out[2];
    qkv_params params = qkv_params_init();
    qkv_error error = qkv_error_init();
    params.q = params.out = qkv_shape_dense(QKV_F32, 1, 1, 1, 2);
    params.k = params.v = qkv_shape_dense(QKV_F32, 1, 1, 4, 2);
    if (qkv_version() >> 16 != QKV_VERSION_MAJOR) return 2;
    if (qkv_attention(&params, q, k, v, out, &error) != QKV_OK) {
        fprintf(stderr, "%s\n", error.text);
        return 1;
    }
    printf("%.2f %.2f\n", (double)out[0], (double)out[1]);
    return 0;
}
